// Package pass is the proof that somebody has been let in: a JWT signed with Ed25519
// that an origin checks without asking anybody.
//
// Anteroom signs (Signer) and publishes its public keys as a JWKS. An origin checks
// with a Verifier over keys it was given (StaticKeys) or fetches (RemoteKeys), most
// simply by putting Middleware before its handlers.
//
// The claims are iss, aud (the room, exactly one), sub (the visitor's id in the line),
// gen (the room's generation), iat, nbf, exp and jti; the header carries alg EdDSA and
// kid. Exactly one algorithm is accepted, and times have 5 s of leeway. The package
// imports no sibling and needs no Redis.
package pass
