// Package pass is the proof that somebody has been let in: a JWT signed with Ed25519
// that an origin checks without asking anybody.
//
//	Anteroom                             origin (a shop)
//	  Signer ── pass ──► browser ── cookie ──► Middleware ──► handlers
//	    │                   ▲                    │    │
//	    │                   └── to queue page ───┘    Verifier
//	    └── JWKS ─────────────────────────────────────► Keys
//
// Anteroom signs with a Signer and publishes its public keys as a JWKS. An origin checks
// with a Verifier over keys it was given (StaticKeys) or fetches (RemoteKeys), most
// simply by putting Middleware before its handlers.
//
// The claims are iss, aud (the room, exactly one), sub (the id of the visitor's ticket),
// gen (the room's generation), iat, nbf, exp and jti, with since and use beside them; the
// header carries alg EdDSA and kid. Exactly one algorithm is accepted, and times have 5 s
// of leeway. The package imports no sibling and needs no Redis. docs/pass.md is for those
// who check passes in another language, and testdata/vectors.json is what they test with.
//
// # Hand-over
//
// A cookie belongs to one domain. To a site on another one the admission travels once, in
// the URL, as a token that lives for HandoverLife and is no pass itself:
//
//	browser  GET shop/page?a=1&anteroom_pass=T ──► Middleware
//	                                                 │ POST {AnteroomURL}/v1/rooms/{room}/redeem {"token":T}
//	                                                 ▼
//	browser  ◄── 302 /page?a=1, Set-Cookie: pass ── 200, once; 409 for a second use
//
// # Online check
//
// By its signature a pass is good until exp, whatever happens in the room. With
// Config.Online the site also asks Anteroom about each pass, and so sees that a visitor was
// released, that the room was reset, and that a session slid on past its pass's exp.
//
// # Keys
//
// One key signs; further public keys are published beside it. To rotate, publish the new
// key, wait until origins have fetched it (RemoteConfig.MaxFresh at most), sign with it,
// and publish the old one until its last pass has expired. A key that is withdrawn is
// accepted by an origin until its set has aged and one request has started the fetch of
// the next, and for as long as no fetch succeeds.
//
// # Trust
//
// A pass is a bearer token: who has the cookie is the visitor. The origin trusts the
// holder of the signing key and, with RemoteKeys, the server of the JWKS: use https.
package pass
