package main

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/gate"
)

// question is a proxy's question about a visitor's page load, with the headers that a
// browser sends and a shop's own cookies around the pass.
func question(b []byte, host string, proxy gate.Proxy, token string) []byte {
	b = append(b, "GET /gate?for="...)
	b = append(b, proxy...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"+
		"\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"+
		"\r\nAccept-Encoding: gzip, deflate, br, zstd"+
		"\r\nAccept-Language: de-DE,de;q=0.8,en-GB;q=0.5,en;q=0.3"+
		"\r\nCookie: _ga=GA1.1.1186318291.1764571200; basket=9f1c2d7a5b; "...)
	b = append(b, pass.CookieName(roomName)...)
	b = append(b, '=')
	b = append(b, token...)
	return append(b, "; consent=all"+
		"\r\nX-Forwarded-For: 203.0.113.7"+
		"\r\nX-Forwarded-Host: shop.test"+
		"\r\nX-Forwarded-Method: GET"+
		"\r\nX-Forwarded-Port: 443"+
		"\r\nX-Forwarded-Proto: https"+
		"\r\nX-Forwarded-Server: proxy-1"+
		"\r\nX-Forwarded-Uri: /sale/evening-lanterns/seats?block=7&from=mail"+
		"\r\nX-Real-Ip: 203.0.113.7\r\n\r\n"...)
}

// again shows passes at random.
func again(proxy gate.Proxy, tokens []string) load.Request {
	return func(b []byte, host string) []byte {
		return question(b, host, proxy, tokens[rand.IntN(len(tokens))]) //nolint:gosec // no secret
	}
}

// once shows each pass once.
func once(proxy gate.Proxy, tokens []string) load.Request {
	var shown atomic.Int64
	return func(b []byte, host string) []byte {
		n := shown.Add(1)
		if n > int64(len(tokens)) {
			return nil
		}
		return question(b, host, proxy, tokens[n-1])
	}
}
