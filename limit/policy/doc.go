// Package policy reads limits from a file and decides by them.
//
//	policies:
//	  - name: api                  # [a-z0-9][a-z0-9-]{0,30}
//	    direction: inbound         # inbound refuses (default), outbound waits
//	    mode: enforce              # enforce (default), or shadow: count and let through
//	    on_store_error: local      # fail_open, fail_closed or local; must be written
//	    share: 0.25                # of rate and burst that one process gives with local
//	    rules:                     # narrowest first: all of them pass, or nothing is taken
//	      - name: user
//	        key: [user]            # address, user, tenant, room, ticket, header:<Name>, or [global] alone
//	        algorithm: gcra        # one of the six of package limit
//	        rate: 100/1m           # count / duration: ms, s, m, h or d
//	        burst: 20              # calls that one instant may bring; must be written
//	        max_cost: 5            # largest cost of a call; default 1
//	      - {name: all, key: [global], algorithm: gcra, rate: 5000/1s, burst: 5000, max_cost: 5}
//
// A rule is called <policy>_<rule> in keys, decisions and metrics. An unknown field, a field
// that comes twice and a value that makes no sense are errors with file and line.
package policy
