// Package clientkey makes limiter keys of requests: the address of the one who asks, and
// hashes of addresses, accounts and secrets, so that a store holds none of them.
//
// The address is the connection's own, unless that is a trusted proxy's: then it is read
// from X-Forwarded-For, from right to left, because each proxy appends what it saw and only
// the left end is the visitor's to write. No other header is read: Forwarded, X-Real-IP,
// True-Client-IP and the like pass most proxies as the visitor wrote them.
//
// Addresses of IPv6 count by their /64, which is what one subscriber gets; a subscriber
// could else ask from as many addresses as there are. Behind a carrier's NAT the opposite
// holds: thousands share one address of IPv4, so a limit by address has to leave room.
package clientkey
