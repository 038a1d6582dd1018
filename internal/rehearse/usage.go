package rehearse

const usage = `rehearse - a crowd of visitors for an Anteroom, and a judge of what they were told

USAGE
  rehearse --url URL[,URL...] --room ROOM [flags]
  rehearse --through PAGE [--through PAGE...] [flags]

DESCRIPTION
  Plays visitors over HTTP as the queue page does: each joins with an idempotency key,
  asks where it stands when the last answer told it to, claims its turn, stays inside for
  a while and leaves. Some give up, some go silent and come back, some never claim.
  A request that fails is sent again as the page does it: later and later at random, never
  before the server's Retry-After.

  Then it judges the run by the answers alone:
    capacity      the most people that were surely inside at one moment: from the answer
                  to the claim until the release is sent, or the session may have ended
    order         an inversion is a pair where the later visitor was told that it is its
                  turn, and the earlier one was told "waiting" to a request sent after
                  that. Earlier: its join was answered before the other's was sent. Only
                  visitors count that asked often enough all the time
    one turn      no ticket gets two slots, shares one, or gets in again after it left
    nobody lost   everybody who joined leaves the line, gets in and out, or stays away on
                  purpose; told to join again is lost, unless the visitor was silent for
                  longer than its place is kept, or its turn came while it slept
    a place       everybody gets a place before the timeout
  Every check counts only what is certain, so none of them gives a false alarm.
  Failed requests are counted and break nothing by themselves.

  With --through the visitors walk to a page of the shop as a browser does, each with its
  own cookies: they load the page and follow redirects to the queue page, or find it in
  place; its own host is then asked with the cookies alone. They claim, follow the claim's
  redirect, a hand-over to another domain included, stay for the session once the shop
  answered, and leave. Name pages that the shop itself answers with 200 and no redirect.
  This is judged too:
    lost query    the shop was asked for another path or query than the visitor wanted, byte
                  for byte: by the header Echo-URI of the shop's answer if it sends one, else
                  by the last address
    thrown out    the queue page came though the visitor had a pass and its session lasted
    still in      a probing visitor kept its pass, and got the shop's page with it to a
                  request sent 1.5 s after the answer to its release, or later
    never queued  the shop's page came without a pass. --allow-straight allows it
    nobody lost   who claims gets to the shop, too
  The shop's page is any 200 without id="queue" in its first 64 KiB.

  Give --heartbeat and --keep-place as the room has them: the checks lean on them.

FLAGS
`

const manual = `
REPORT
  Text, or with --json one object:
    room, urls, through, seed, seconds, visitors, joined, never_joined, interrupted
    capacity, capacity_from ("flag", "status" or "nowhere"), allow_over
    waits_s {p50 p95 p99 max}: from the answer to the join until told its turn
    ended {served left_line no_show missed_turn slept_too_long}
    inside_by_second: most people surely inside in each second
    highest_inside, highest_at_s, highest_possible (an upper figure, for information)
    inversions, overtaken, comparable, straddling, wiped_at_s
    examples [{joined_s later_joined_s later_turn_s asked_s waiting_s}]: the evidence for
      the first few who were overtaken
    double_admissions, doubles {other_slot shared_slot turn_again line_again}
    lost, losses {refused unfinished outside}, taken_back, position_rises
    lost_examples [{to joined_s slept away_from_s last_s last_said refused_s behind_s}]
    lost_query, thrown_out, still_in, never_queued: visitors; allow_straight
    gate {entered visits returned examples [{what at_s asked got}]}: how many got to the
      shop, page loads with a pass and with one that was given back, and the evidence
    requests, probes, requests_a_visitor (without probes), refusals, faults {kind: count}
    lag_s {p50 p95 p99 max}: how late requests were sent; a late crowd is a weak one
    broken: the invariants that did not hold; empty = all held

EXAMPLES
  rehearse --visitors 200 --arrive 5s
      a small crowd for the demo room of a server on this machine
  rehearse --url http://127.0.0.1:8080,http://127.0.0.1:8081 --room sale \
      --visitors 5000 --arrive 10s --leave 10% --sleep 10% --noshow 5% --session 2s
      two servers
  rehearse --room sale --visitors 5000 --allow-over 100
      while somebody wipes the store: those inside at that moment may come on top

  rehearse --through 'https://shop.example/sale?a=1&b=2&b=3' --visitors 500 --session 30s
      as browsers, through the gate of a shop

EXIT STATUS
  0  every invariant held    1  one broke, or the run was interrupted    2  wrong usage, no such room,
                                                                            or no server answered at the start
`
