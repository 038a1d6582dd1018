// Package rehearse plays a crowd of visitors against a running Anteroom and checks, from
// the HTTP answers alone, that the line kept its promises.
//
//	plan ──> crowd (one goroutine: heap of due times, every visitor's state)
//	            │  call                              ▲ answer
//	            ▼                                    │
//	         workers (a bounded number, keep-alive connections) ──HTTP──> servers
//	            │
//	         history ──> Check (pure) ──> Report ──> text or JSON, exit status
//
// The evidence never accuses the innocent: every check uses only what is certain from the
// moments at which requests were sent and answers arrived. A visitor counts as inside from
// the arrival of the claim's answer to the sending of its release; one visitor counts as
// before another only if its join was answered before the other's join was sent. What this
// cannot prove it does not count, so a result of 0 means "none was seen", not "none was
// possible".
//
// With --through a visitor is a browser: it begins and ends with page loads of the shop,
// which follow redirects with a cookie jar, and asks the API of the host of its queue page.
//
//	arriving ──> joining ──> polling ──> claiming ──> entering ──> [visiting, again, visiting]
//	   shop's page → queue page             ▲            │ queue page: not let in      │
//	                                        └────────────┘       [returning] <── releasing
package rehearse
