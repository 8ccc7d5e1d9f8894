// The scripts that the engine runs, each in one step: what two machines do at once happens one after the other. Entries are sealed
// (../shared/seal.ts): a script chooses between entries by their first fields, which are in the clear, and makes none. What a script
// decides for an entry that is there, it returns with that entry, and the machine decides whether it was forged.
// A lease is a hash of two fields. `h` is its head, `<fencing token> <end of the lease> <ended: 0 or 1> <name of its hostname or ->
// <tag of its JSON> <sealed>`; `j` is `<tag> <sealed JSON>`. The stream has heads alone, since metadata may be large.

/** Milliseconds since the epoch by the engine's clock, which is the clock of all leases. */
const NOW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

/** Nothing of an entry that is no head. */
const PARSE = `
local function parse(entry)
  local fence, expires, ended, hostname = string.match(entry or '', '^(%d+) (%d+) ([01]) (%S+) ')
  return tonumber(fence), tonumber(expires), ended == '1', hostname
end
`

/** The other identity that has the hostname, with an active lease or for a while after one, and the head of that lease. */
const HOLDER = `
local function otherHolder(holderKey, leasePrefix, identity, hostname, keptMs)
  local holder = redis.call('GET', holderKey)
  if not holder or holder == identity then return nil end
  local entry = redis.call('HGET', leasePrefix .. holder, 'h')
  local fence, expires, _, held = parse(entry)
  if fence and held == hostname and expires + keptMs > now then return holder, entry end
  return nil
end
`

/**
 * Gives out a fencing token. KEYS: fence. ARGV: the largest one that the machine knows, more than which no relay comes to.
 * @returns one that is larger than all before
 */
export const NEXT_FENCE: string = `
local last = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if not (last <= tonumber(ARGV[2])) then last = 0 end
local fence = math.max(last, tonumber(ARGV[1])) + 1
redis.call('SET', KEYS[1], string.format('%.0f', fence))
return fence
`

/**
 * Registers a lease.
 * KEYS: epoch, lease, holder of the hostname, changes, index. ARGV: epoch, name of the identity, lease prefix, name of the hostname
 * or `-`, fencing token, ttl in ms, time for which a name is kept in ms, lifetime of the index of names in ms, entries of the stream,
 * machine, head, JSON of the lease.
 * @returns `{'registered', id of the change}`, `{'epoch'}`, or with the name of an identity and the head of its lease `{'newer'}` when
 * the identity has a newer lease, `{'conflict'}` when another one has the hostname
 */
export const REGISTER: string = `
${NOW}${PARSE}${HOLDER}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'epoch'} end
local known = redis.call('HGET', KEYS[2], 'h')
local knownFence = parse(known)
if knownFence and knownFence > tonumber(ARGV[5]) then return {'newer', ARGV[2], known} end
local kept = tonumber(ARGV[7])
if ARGV[4] ~= '-' then
  local holder, entry = otherHolder(KEYS[3], ARGV[3], ARGV[2], ARGV[4], kept)
  if holder then return {'conflict', holder, entry} end
end
redis.call('HSET', KEYS[2], 'h', ARGV[11], 'j', ARGV[12])
redis.call('PEXPIRE', KEYS[2], tonumber(ARGV[6]) + kept)
if ARGV[4] ~= '-' then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[8]) end
redis.call('ZADD', KEYS[5], now, ARGV[2])
local id = redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[9], '*', 'lease', ARGV[2], 'from', ARGV[10], 'entry', ARGV[11])
return {'registered', id}
`

/**
 * Puts what a machine knows of a lease into the engine: a renewal, its end, or all of it after the engine lost it. A newer
 * lease of the identity stays, an end is final, of two renewals the longer one counts, and of two ends the earlier one.
 * KEYS: lease, holder of the hostname, changes, fence, index. ARGV: name of the identity, lease prefix, fencing token, expires, ended,
 * name of the hostname or `-`, time for which a name is kept in ms, lifetime of the index of names in ms, whether to renew that
 * index, entries of the stream, machine, head, tag of the JSON, JSON or '' when it has not changed.
 * @returns `{'put', id of the change}`, `{'json'}` when the engine does not have its JSON, or with the name of an identity and the head
 * of its lease `{'gone'}` when the lease is over or its hostname is another's, `{'end'}` when the end in that head counts
 */
export const PUT: string = `
${NOW}${PARSE}${HOLDER}
local fence = tonumber(ARGV[3])
local expires = tonumber(ARGV[4])
local isEnd = ARGV[5] == '1'
local kept = tonumber(ARGV[7])
local known = redis.call('HGET', KEYS[1], 'h')
local knownFence, knownExpires, knownEnded = parse(known)
local isNew = true
if knownFence then
  if knownFence > fence or (knownFence == fence and knownEnded and not isEnd) then return {'gone', ARGV[1], known} end
  if knownFence == fence then
    isNew = false
    if isEnd and knownExpires < expires or not isEnd and knownExpires > expires then return {'end', ARGV[1], known} end
  end
end
if isNew then
  if ARGV[6] ~= '-' then
    local holder, entry = otherHolder(KEYS[2], ARGV[2], ARGV[1], ARGV[6], kept)
    if holder then return {'gone', holder, entry} end
  end
  if ARGV[14] == '' then return {'json'} end
  if (tonumber(redis.call('GET', KEYS[4]) or '0') or 0) < fence then redis.call('SET', KEYS[4], ARGV[3]) end
  redis.call('ZADD', KEYS[5], now, ARGV[1])
elseif ARGV[14] == '' and string.match(redis.call('HGET', KEYS[1], 'j') or '', '^%S+') ~= ARGV[13] then return {'json'} end
local lifetime = expires + kept - now
if lifetime <= 0 then return {'put', ''} end
if ARGV[14] == '' then redis.call('HSET', KEYS[1], 'h', ARGV[12]) else redis.call('HSET', KEYS[1], 'h', ARGV[12], 'j', ARGV[14]) end
redis.call('PEXPIRE', KEYS[1], lifetime)
if ARGV[6] ~= '-' and (isNew or ARGV[9] == '1') then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[8]) end
local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[10], '*', 'lease', ARGV[1], 'from', ARGV[11], 'entry', ARGV[12])
return {'put', id}
`

/** Removes the head of a lease that no machine wrote. KEYS: lease. ARGV: the head. */
export const DROP_FORGED_LEASE: string = `
if redis.call('HGET', KEYS[1], 'h') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

/**
 * Looks after the index of leases: those at which nobody has looked for longest leave it when they have no entry any more.
 * KEYS: index. ARGV: begin of the keys of leases, members to look at.
 */
export const SWEEP_INDEX: string = `
${NOW}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)) do
  if redis.call('EXISTS', ARGV[1] .. member) == 1 then redis.call('ZADD', KEYS[1], now, member)
  else redis.call('ZREM', KEYS[1], member) end
end
return 0
`

/**
 * Says that a machine is there.
 * KEYS: machines, epoch, changes. ARGV: name of the machine, its sealed entry, time after which a machine is forgotten in ms, most
 * machines.
 * @returns `{now, epoch or '', id of the last change or '0-0', names and entries in turn}`; an entry is
 * `<time of the last sign> <sealed>`
 */
export const HEARTBEAT: string = `
${NOW}
local all = redis.call('HGETALL', KEYS[1])
local count = 0
for i = 1, #all, 2 do
  local seen = tonumber(string.match(all[i + 1], '^%d+'))
  if not seen or seen + tonumber(ARGV[3]) < now then redis.call('HDEL', KEYS[1], all[i]) elseif all[i] ~= ARGV[1] then count = count + 1 end
end
if count < tonumber(ARGV[4]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
local last = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
return {now, redis.call('GET', KEYS[2]) or '', last[1] and last[1][1] or '0-0', redis.call('HGETALL', KEYS[1])}
`

/**
 * Replaces the policy if nobody else has meanwhile.
 * KEYS: policy, changes. ARGV: the expected entry or '', the new one, entries of the stream, machine.
 * @returns 1 when it was replaced
 */
export const SET_POLICY: string = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'policy', '', 'from', ARGV[4], 'entry', ARGV[2])
return 1
`

/**
 * The generic cell rate algorithm for `cost` units: see ../../rate-limit/gcra.ts. Times are in milliseconds. No debt is larger than the
 * whole burst, whichever machine wrote it.
 */
const SPEND = `
local function waitFor(key, cost, perMinute, burst)
  local unit = 60000 / perMinute
  local debt = math.min(burst * unit, math.max(0, (tonumber(redis.call('GET', key) or '0') or 0) - now))
  return math.max(0, debt + cost * unit - burst * unit)
end
local function spend(key, cost, perMinute)
  local unit = 60000 / perMinute
  local full = math.max(now, tonumber(redis.call('GET', key) or '0') or 0) + cost * unit
  redis.call('SET', key, string.format('%.3f', full), 'PX', math.max(1, math.ceil(full - now)))
end
`

/**
 * Keeps a challenge that a machine has issued, and charges the client for it.
 * KEYS: challenge, open challenges of the network, budget of the network, budget of the relay. ARGV: name of the challenge, its entry,
 * ttl in ms, most open challenges of a network, units, units a minute and burst of a network, the same of the relay.
 * @returns milliseconds to wait, -1 for too many open challenges, or 0
 */
export const ISSUE_CHALLENGE: string = `
${NOW}${SPEND}
local cost = tonumber(ARGV[5])
local wait = math.max(waitFor(KEYS[3], cost, ARGV[6], ARGV[7]), waitFor(KEYS[4], cost, ARGV[8], ARGV[9]))
if wait > 0 then return math.ceil(wait) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return -1 end
spend(KEYS[3], cost, ARGV[6])
spend(KEYS[4], cost, ARGV[8])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 0
`

/**
 * Takes a challenge, which nobody can take again, and charges the client for the registration. Its entry is
 * `<name of the network that got it> <sealed>`.
 * KEYS: challenge, budget of the network, budget of the relay. ARGV: begin of the keys of open challenges, name of the challenge,
 * units, units a minute and burst of a network, the same of the relay.
 * @returns `{milliseconds to wait, entry or false}`; nothing is taken from who has to wait
 */
export const TAKE_CHALLENGE: string = `
${NOW}${SPEND}
local cost = tonumber(ARGV[3])
local wait = math.max(waitFor(KEYS[2], cost, ARGV[4], ARGV[5]), waitFor(KEYS[3], cost, ARGV[6], ARGV[7]))
if wait > 0 then return {math.ceil(wait), false} end
local found = redis.call('GET', KEYS[1])
spend(KEYS[2], cost, ARGV[4])
spend(KEYS[3], cost, ARGV[6])
if not found then return {0, false} end
redis.call('DEL', KEYS[1])
redis.call('ZREM', ARGV[1] .. string.match(found, '^%S*'), ARGV[2])
return {0, found}
`

/** Gives units of a budget back. KEYS: budget of a network. ARGV: units, units a minute. */
export const REFUND: string = `
${NOW}
local full = (tonumber(redis.call('GET', KEYS[1]) or '0') or 0) - tonumber(ARGV[1]) * 60000 / tonumber(ARGV[2])
if full > now then redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now)) else redis.call('DEL', KEYS[1]) end
return 0
`

/**
 * Takes or keeps a lock. KEYS: lock. ARGV: holder, lifetime in ms.
 * @returns the holder, which may be another one
 */
export const LOCK: string = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`

/** Gives a lock back that the holder still has. KEYS: lock. ARGV: holder. */
export const UNLOCK: string = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

/**
 * Puts files into the engine, all or none: only if it has of each what this machine knows. KEYS: changes, files. ARGV: entries of
 * the stream, machine, then of each file its name, the expected text that is there or '', and the text.
 * @returns 1 when they were put
 */
export const PUT_FILES: string = `
for at = 2, #KEYS do
  if (redis.call('GET', KEYS[at]) or '') ~= ARGV[3 * at - 2] then return 0 end
end
for at = 2, #KEYS do
  local name, text = ARGV[3 * at - 3], ARGV[3 * at - 1]
  redis.call('SET', KEYS[at], text)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'file', name, 'from', ARGV[2], 'entry', text)
end
return 1
`

/** Keeps a change of the policy with the last ones. KEYS: changes of the policy. ARGV: the entry, changes that are kept. */
export const KEEP_POLICY_CHANGE: string = `
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
return 1
`

/** Whether the entry of a snapshot, `<end> <name of the machine or -> <time of the change> <sealed>`, names a machine. */
const NAMES = `
local function names(entry, machine) return string.match(entry, '^%d+ (%S+) ') == machine end
`

/**
 * Says which machine has a site's snapshot. The entry stays for a while behind the snapshot's end, since that may have moved.
 * KEYS: snapshot, index, changes. ARGV: name of the identity, end by the engine's clock, time for which the entry stays behind it in
 * ms, the entry, entries of the stream, machine, name of the machine that an entry which is there has to name or ''.
 * @returns id of the change; `0-0` when the entry names another one
 */
export const PUT_SNAPSHOT: string = `
${NOW}${NAMES}
local known = redis.call('GET', KEYS[1])
if known and ARGV[7] ~= '' and not names(known, ARGV[7]) then return '0-0' end
local left = tonumber(ARGV[2]) + tonumber(ARGV[3]) - now
if left < 1 then left = 1 end
redis.call('SET', KEYS[1], ARGV[4], 'PX', left)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + left, ARGV[1])
return redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[5], '*', 'snapshot', ARGV[1], 'from', ARGV[6], 'entry', ARGV[4])
`

/**
 * Says that a site has removed its snapshot. That stays for as long as the entry would have stayed: a machine that is away may
 * still have the files. KEYS: snapshot, changes. ARGV: name of the identity, what says so, entries of the stream, machine.
 * @returns id of the change
 */
export const REMOVE_SNAPSHOT: string = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') end
return redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'snapshot', ARGV[1], 'from', ARGV[4], 'entry', ARGV[2])
`

/**
 * Says that a machine has a site's snapshot no more. KEYS: snapshot, index, changes. ARGV: name of the identity, name of the machine,
 * entries of the stream, start of the machine, what says that there is none.
 */
export const FORGET_SNAPSHOT: string = `
${NAMES}
local known = redis.call('GET', KEYS[1])
if not known or not names(known, ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], '*', 'snapshot', ARGV[1], 'from', ARGV[4], 'entry', ARGV[5])
return 1
`
