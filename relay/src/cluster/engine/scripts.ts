// The scripts that the engine runs, each in one step: what two machines do at once happens one after the other.
// A lease is a hash of two fields. `h` is its head, `<fencing token> <end of the lease> <ended: 0 or 1> <hostname or ->`, behind
// which a renewal adds what it saw; `j` is its JSON. The stream has heads alone, since metadata may be large.

/** Milliseconds since the epoch by the engine's clock, which is the clock of all leases. */
const NOW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

const PARSE = `
local function parse(entry)
  local fence, expires, ended, hostname = string.match(entry, '^(%d+) (%d+) ([01]) (%S+)')
  return tonumber(fence), tonumber(expires), ended == '1', hostname
end
`

/** Whether another identity has the hostname, with an active lease or for a while after one. */
const HOLDER = `
local function isHeldByOther(nameKey, leasePrefix, identity, hostname, keptMs)
  local holder = redis.call('GET', nameKey)
  if not holder or holder == identity then return false end
  local entry = redis.call('HGET', leasePrefix .. holder, 'h')
  if not entry then return false end
  local _, expires, _, held = parse(entry)
  return held == hostname and expires + keptMs > now
end
`

/**
 * Registers a lease.
 * KEYS: epoch, fence, lease, name, changes, index. ARGV: epoch, identity key, lease prefix, hostname or `-`, whether a lease
 * without it will do, ttl in ms, time for which a name is kept in ms, lifetime of the index of names in ms, entries of the
 * stream, machine, JSON of the lease.
 * @returns `{'registered', fence, expires, hostname, now, id of the change}`, `{'conflict'}`, or `{'epoch'}`
 */
export const REGISTER: string = `
${NOW}${PARSE}${HOLDER}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'epoch'} end
local hostname = ARGV[4]
local kept = tonumber(ARGV[7])
if hostname ~= '-' and isHeldByOther(KEYS[4], ARGV[3], ARGV[2], hostname, kept) then
  if ARGV[5] ~= '1' then return {'conflict'} end
  hostname = '-'
end
local fence = redis.call('INCR', KEYS[2])
local expires = now + tonumber(ARGV[6])
local head = fence .. ' ' .. expires .. ' 0 ' .. hostname
redis.call('HSET', KEYS[3], 'h', head, 'j', ARGV[11])
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[6]) + kept)
if hostname ~= '-' then redis.call('SET', KEYS[4], ARGV[2], 'PX', ARGV[8]) end
redis.call('ZADD', KEYS[6], now, ARGV[2])
local id = redis.call('XADD', KEYS[5], 'MAXLEN', '~', ARGV[9], '*', 'lease', ARGV[2], 'from', ARGV[10], 'entry', head)
return {'registered', fence, expires, hostname, now, id}
`

/**
 * Puts what a machine knows of a lease into the engine: a renewal, its end, or all of it after the engine lost it. A newer
 * lease of the identity stays, an end is final, and of two ends of one lease the later one counts.
 * KEYS: lease, name, changes, fence, index. ARGV: identity key, lease prefix, fence, expires, ended, hostname or `-`, time for which
 * a name is kept in ms, lifetime of the index of names in ms, whether to renew that index, entries of the stream, machine, JSON
 * or '' when it has not changed, what the renewal saw.
 * @returns `{'put', expires, id of the change}`, `{'gone'}` when the lease is over or its name is another's, or `{'json'}` when
 * the engine does not have its JSON
 */
export const PUT: string = `
${NOW}${PARSE}${HOLDER}
local fence = tonumber(ARGV[3])
local expires = tonumber(ARGV[4])
local kept = tonumber(ARGV[7])
local known = redis.call('HGET', KEYS[1], 'h')
local isNew = true
if known then
  local knownFence, knownExpires, knownEnded = parse(known)
  if knownFence > fence or (knownFence == fence and knownEnded and ARGV[5] ~= '1') then return {'gone'} end
  if knownFence == fence then
    isNew = false
    if ARGV[5] == '1' then expires = math.min(expires, knownExpires) else expires = math.max(expires, knownExpires) end
  end
end
if isNew then
  if ARGV[6] ~= '-' and isHeldByOther(KEYS[2], ARGV[2], ARGV[1], ARGV[6], kept) then return {'gone'} end
  if ARGV[12] == '' then return {'json'} end
  if tonumber(redis.call('GET', KEYS[4]) or '0') < fence then redis.call('SET', KEYS[4], fence) end
  redis.call('ZADD', KEYS[5], now, ARGV[1])
end
local lifetime = expires + kept - now
if lifetime <= 0 then return {'put', expires, ''} end
local head = fence .. ' ' .. expires .. ' ' .. ARGV[5] .. ' ' .. ARGV[6] .. ARGV[13]
local kind = 'renewal'
if ARGV[12] == '' then redis.call('HSET', KEYS[1], 'h', head)
else
  redis.call('HSET', KEYS[1], 'h', head, 'j', ARGV[12])
  kind = 'lease'
end
redis.call('PEXPIRE', KEYS[1], lifetime)
if ARGV[6] ~= '-' and (isNew or ARGV[9] == '1') then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[8]) end
local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[10], '*', kind, ARGV[1], 'from', ARGV[11], 'entry', head)
return {'put', expires, id}
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
 * KEYS: machines, epoch, changes. ARGV: address, JSON, time after which a machine is forgotten in ms, most machines.
 * @returns `{now, epoch or '', id of the last change or '0-0', addresses and entries in turn}`; an entry is
 * `<time of the last sign> <JSON>`
 */
export const HEARTBEAT: string = `
${NOW}
local all = redis.call('HGETALL', KEYS[1])
local count = 0
for i = 1, #all, 2 do
  local seen = tonumber(string.match(all[i + 1], '^%d+'))
  if seen + tonumber(ARGV[3]) < now then redis.call('HDEL', KEYS[1], all[i]) elseif all[i] ~= ARGV[1] then count = count + 1 end
end
if count < tonumber(ARGV[4]) then redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2]) end
local last = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
return {now, redis.call('GET', KEYS[2]) or '', last[1] and last[1][1] or '0-0', redis.call('HGETALL', KEYS[1])}
`

/**
 * Replaces the policy if nobody else has meanwhile.
 * KEYS: policy, changes. ARGV: expected version, JSON of the policy, entries of the stream, machine, the
 * version that this machine has: that of an engine which lost data may be lower.
 * @returns the new version, higher than both, or 0
 */
export const SET_POLICY: string = `
local known = redis.call('GET', KEYS[1])
local version = known and tonumber(string.match(known, '^%d+')) or 0
if version ~= tonumber(ARGV[1]) then return 0 end
local next = math.max(version, tonumber(ARGV[5])) + 1
local entry = next .. ' ' .. ARGV[2]
redis.call('SET', KEYS[1], entry)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'policy', '', 'from', ARGV[4], 'entry', entry)
return next
`

/** The generic cell rate algorithm for `cost` units: see ../../rate-limit/gcra.ts. Times are in milliseconds. */
const SPEND = `
local function waitFor(key, cost, perMinute, burst)
  local unit = 60000 / perMinute
  local debt = math.max(0, tonumber(redis.call('GET', key) or '0') - now)
  return math.max(0, debt + cost * unit - burst * unit)
end
local function spend(key, cost, perMinute)
  local unit = 60000 / perMinute
  local full = math.max(now, tonumber(redis.call('GET', key) or '0')) + cost * unit
  redis.call('SET', key, string.format('%.3f', full), 'PX', math.max(1, math.ceil(full - now)))
end
`

/**
 * Keeps a challenge that a machine has issued, and charges the client for it.
 * KEYS: challenge, open challenges of the network, budget of the network, budget of the relay. ARGV: id, JSON, ttl in ms, most
 * open challenges of a network, units, units a minute and burst of a network, the same of the relay.
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
 * Takes a challenge, which nobody can take again, and charges the client for the registration.
 * KEYS: challenge, budget of the network, budget of the relay. ARGV: begin of the keys of open challenges, id, units, units a
 * minute and burst of a network, the same of the relay.
 * @returns `{milliseconds to wait, JSON or false}`; nothing is taken from who has to wait
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
redis.call('ZREM', ARGV[1] .. string.match(found, '^(%S+) '), ARGV[2])
return {0, string.match(found, '^%S+ (.*)$')}
`

/** Gives units of a budget back. KEYS: budget of a network. ARGV: units, units a minute. */
export const REFUND: string = `
${NOW}
local full = tonumber(redis.call('GET', KEYS[1]) or '0') - tonumber(ARGV[1]) * 60000 / tonumber(ARGV[2])
if full > now then redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now)) else redis.call('DEL', KEYS[1]) end
return 0
`

/**
 * Takes or keeps a lock. KEYS: lock. ARGV: holder, lifetime in ms.
 * @returns 1 when the holder has it
 */
export const LOCK: string = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
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

/**
 * Keeps a change of the policy with the last ones. KEYS: changes of the policy, number of the last one. ARGV: JSON, changes that are kept.
 * @returns its number
 */
export const KEEP_POLICY_CHANGE: string = `
local number = redis.call('INCR', KEYS[2])
redis.call('LPUSH', KEYS[1], number .. ' ' .. ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
return number
`

/**
 * Says which machine has a site's snapshot. The entry stays for a while behind the snapshot's end, since that may have moved.
 * KEYS: snapshot, index, changes. ARGV: identity key, end by the engine's clock, time for which the entry stays behind it in ms,
 * the entry, entries of the stream, machine, what an entry that is there has to say or ''.
 * @returns id of the change; `0-0` when the entry says something else
 */
export const PUT_SNAPSHOT: string = `
${NOW}
local known = redis.call('GET', KEYS[1])
if known and ARGV[7] ~= '' and not string.find(known, ARGV[7], 1, true) then return '0-0' end
local left = tonumber(ARGV[2]) + tonumber(ARGV[3]) - now
if left < 1 then left = 1 end
redis.call('SET', KEYS[1], ARGV[4], 'PX', left)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + left, ARGV[1])
return redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[5], '*', 'snapshot', ARGV[1], 'from', ARGV[6], 'entry', ARGV[4])
`

/**
 * Says that a site has removed its snapshot. That stays for as long as the entry would have stayed: a machine that is away may
 * still have the files. KEYS: snapshot, changes. ARGV: identity key, what says so, entries of the stream, machine.
 * @returns id of the change
 */
export const REMOVE_SNAPSHOT: string = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') end
return redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'snapshot', ARGV[1], 'from', ARGV[4], 'entry', ARGV[2])
`

/**
 * Says that a machine has a site's snapshot no more. KEYS: snapshot, index, changes. ARGV: identity key, what the entry of that
 * machine says, entries of the stream, machine, what says that there is none.
 */
export const FORGET_SNAPSHOT: string = `
local known = redis.call('GET', KEYS[1])
if not known or not string.find(known, ARGV[2], 1, true) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], '*', 'snapshot', ARGV[1], 'from', ARGV[4], 'entry', ARGV[5])
return 1
`
