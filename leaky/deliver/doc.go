// Package deliver makes one HTTP POST of one job to its destination and says what became
// of it. It decides nothing about when to try again; it remembers nothing but connections.
//
//	POST /hook HTTP/1.1
//	Content-Type: application/json
//	Webhook-Id: job_2f9c…             the same on every attempt
//	Webhook-Timestamp: 1801483200     seconds, fresh on every attempt
//	Webhook-Signature: v1,K5oZ… v1,…  one a secret, over "id.timestamp.body"
//	Anteroom-Attempt: 3               1 is the first
//
// The signature is the Standard Webhooks scheme (https://www.standardwebhooks.com), so
// receivers verify it with that project's libraries.
//
// # What counts
//
//	2xx                      delivered
//	410                      disabled: the destination wants no more calls
//	429, 503                 pause, for Retry-After; costs no attempt
//	every other status       retry, 3xx included: redirects are never followed
//	no answer, TLS, DNS …    retry, with the reason
//	a job that can never go  dead: no valid id, URL, header, or a body over 256 KiB
//
// Every non-2xx is retried until the attempts are used up, 4xx included, as Google Cloud
// Tasks does: a 401 while a key rotates or a 404 during a deployment heals, and a call too
// many costs less than a job that is lost. The status counts as soon as it is read:
// a receiver that says 200 and then stalls in the body has done its work, and calling it
// again would do it twice.
//
// # Where it goes
//
// The address is checked as it is dialled, after resolution, so a name that resolves
// differently the second time gains nothing. Private networks are refused unless the queue
// allows them; link-local, metadata and multicast addresses are refused always. Proxies of
// the environment are not used, since the check would then see the proxy.
package deliver
