// The scripts that Redis runs, each atomically. Entries are sealed (../shared/seal.ts): a script compares entries by
// their first fields, which are in the clear, and creates none. When an existing entry decides the outcome, the script
// returns that entry, and the machine checks whether it was forged.
//
// A lease is a hash of two fields. `h` is its head, `<fencing token> <end of the lease> <ended: 0 or 1> <name of its
// hostname or -> <tag of its JSON> <sealed>`; `j` is `<tag> <sealed JSON>`. The stream contains only heads, since
// metadata may be large.
//
// Names that several scripts use: `identity` and `machine` are hashed names, `leases` is the prefix of the keys of
// leases, and `hostname` is a hashed name, or `-`; `changesKept` is the number of entries that the stream keeps,
// `keptMs` how long a name or an entry stays after its end, and `indexMs` the lifetime of the index of names.

import { type Script, script } from './script.ts'

/** Milliseconds since the epoch by Redis's clock, which is the clock of all leases. */
const NOW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

/** Parses a head. The fencing token is nil for anything else. */
const PARSE = `
local function parse(entry)
  local fence, expires, ended, hostname = string.match(entry or '', '^(%d+) (%d+) ([01]) (%S+) ')
  return tonumber(fence), tonumber(expires), ended == '1', hostname
end
`

/**
 * Finds another identity that has the hostname, by a lease that is active or ended within `keptMs`, and the lease's
 * head.
 */
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
 * Issues a fencing token. The machine knows none above `known`, and no relay reaches `most`.
 * @returns a token that is larger than all before
 */
export const NEXT_FENCE: Script<'fence', 'known' | 'most'> = script(`
local last = tonumber(redis.call('GET', KEYS.fence) or '0') or 0
if not (last <= tonumber(ARGV.most)) then last = 0 end
local fence = math.max(last, tonumber(ARGV.known)) + 1
redis.call('SET', KEYS.fence, string.format('%.0f', fence))
return fence
`)

/**
 * Registers a lease.
 * @returns `{'registered', id of the change}`, `{'epoch'}`, or, with the name of an identity and the head of its lease,
 *   `{'newer'}` when the identity has a newer lease, `{'conflict'}` when another one has the hostname
 */
export const REGISTER: Script<
  'epoch' | 'lease' | 'holder' | 'changes' | 'index',
  | 'epoch'
  | 'identity'
  | 'leases'
  | 'hostname'
  | 'fence'
  | 'ttlMs'
  | 'keptMs'
  | 'indexMs'
  | 'changesKept'
  | 'machine'
  | 'head'
  | 'json'
> = script(`
${NOW}${PARSE}${HOLDER}
if redis.call('GET', KEYS.epoch) ~= ARGV.epoch then return {'epoch'} end
local known = redis.call('HGET', KEYS.lease, 'h')
local knownFence = parse(known)
if knownFence and knownFence > tonumber(ARGV.fence) then return {'newer', ARGV.identity, known} end
local kept = tonumber(ARGV.keptMs)
if ARGV.hostname ~= '-' then
  local holder, entry = otherHolder(KEYS.holder, ARGV.leases, ARGV.identity, ARGV.hostname, kept)
  if holder then return {'conflict', holder, entry} end
end
redis.call('HSET', KEYS.lease, 'h', ARGV.head, 'j', ARGV.json)
redis.call('PEXPIRE', KEYS.lease, tonumber(ARGV.ttlMs) + kept)
if ARGV.hostname ~= '-' then redis.call('SET', KEYS.holder, ARGV.identity, 'PX', ARGV.indexMs) end
redis.call('ZADD', KEYS.index, now, ARGV.identity)
local id = redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'lease', ARGV.identity, 'from', ARGV.machine, 'entry', ARGV.head)
return {'registered', id}
`)

/**
 * Writes what a machine knows of a lease to Redis: a renewal, its end, or all of it after Redis lost it. A newer
 * lease of the identity stays, an end is final, of two renewals the longer one counts, and of two ends the earlier one.
 * `isIndexDue` says whether to renew the index of names, and `json` is '' when it has not changed.
 * @returns `{'put', id of the change}`, `{'json'}` when Redis does not have its JSON, or, with the name of an identity
 *   and the head of its lease, `{'gone'}` when the lease is over or its hostname is another's, `{'end'}` when the end
 *   in that head counts
 */
export const PUT: Script<
  'lease' | 'holder' | 'changes' | 'fence' | 'index',
  | 'identity'
  | 'leases'
  | 'fence'
  | 'expires'
  | 'isEnd'
  | 'hostname'
  | 'keptMs'
  | 'indexMs'
  | 'isIndexDue'
  | 'changesKept'
  | 'machine'
  | 'head'
  | 'tag'
  | 'json'
> = script(`
${NOW}${PARSE}${HOLDER}
local fence = tonumber(ARGV.fence)
local expires = tonumber(ARGV.expires)
local isEnd = ARGV.isEnd == '1'
local kept = tonumber(ARGV.keptMs)
local known = redis.call('HGET', KEYS.lease, 'h')
local knownFence, knownExpires, knownEnded = parse(known)
local isNew = true
if knownFence then
  if knownFence > fence or (knownFence == fence and knownEnded and not isEnd) then return {'gone', ARGV.identity, known} end
  if knownFence == fence then
    isNew = false
    if isEnd and knownExpires < expires or not isEnd and knownExpires > expires then return {'end', ARGV.identity, known} end
  end
end
if isNew then
  if ARGV.hostname ~= '-' then
    local holder, entry = otherHolder(KEYS.holder, ARGV.leases, ARGV.identity, ARGV.hostname, kept)
    if holder then return {'gone', holder, entry} end
  end
  if ARGV.json == '' then return {'json'} end
  if (tonumber(redis.call('GET', KEYS.fence) or '0') or 0) < fence then redis.call('SET', KEYS.fence, ARGV.fence) end
  redis.call('ZADD', KEYS.index, now, ARGV.identity)
elseif ARGV.json == '' and string.match(redis.call('HGET', KEYS.lease, 'j') or '', '^%S+') ~= ARGV.tag then return {'json'} end
local lifetime = expires + kept - now
if lifetime <= 0 then return {'put', ''} end
if ARGV.json == '' then redis.call('HSET', KEYS.lease, 'h', ARGV.head) else redis.call('HSET', KEYS.lease, 'h', ARGV.head, 'j', ARGV.json) end
redis.call('PEXPIRE', KEYS.lease, lifetime)
if ARGV.hostname ~= '-' and (isNew or ARGV.isIndexDue == '1') then redis.call('SET', KEYS.holder, ARGV.identity, 'PX', ARGV.indexMs) end
local id = redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'lease', ARGV.identity, 'from', ARGV.machine, 'entry', ARGV.head)
return {'put', id}
`)

/**
 * Claims a custom domain for an identity, unless a later proof gave it to another one. `provenAt` is by Redis's clock.
 * @returns 1 when the identity has it
 */
export const CLAIM_DOMAIN: Script<'domain', 'identity' | 'provenAt' | 'keptMs'> = script(`
${NOW}
local at, holder = string.match(redis.call('GET', KEYS.domain) or '', '^(%d+) (%S+)$')
local provenAt = tonumber(ARGV.provenAt)
if at and holder ~= ARGV.identity and tonumber(at) >= provenAt and tonumber(at) <= now then return 0 end
redis.call('SET', KEYS.domain, ARGV.provenAt .. ' ' .. ARGV.identity, 'PX', ARGV.keptMs)
return 1
`)

/** Removes the head of a lease that no machine wrote. */
export const DROP_FORGED_LEASE: Script<'lease', 'head'> = script(`
if redis.call('HGET', KEYS.lease, 'h') == ARGV.head then redis.call('DEL', KEYS.lease) end
return 1
`)

/**
 * Cleans up the index of leases: checks those not checked for longest, and removes them if they have no entry any more.
 * It checks `count` of them.
 */
export const SWEEP_INDEX: Script<'index', 'leases' | 'count'> = script(`
${NOW}
for _, member in ipairs(redis.call('ZRANGE', KEYS.index, 0, tonumber(ARGV.count) - 1)) do
  if redis.call('EXISTS', ARGV.leases .. member) == 1 then redis.call('ZADD', KEYS.index, now, member)
  else redis.call('ZREM', KEYS.index, member) end
end
return 0
`)

/**
 * Records a machine's heartbeat.
 * A machine that is silent for `keptMs` is forgotten, and there are at most `most` machines.
 * @returns `{now, epoch or '', id of the last change or '0-0', names and entries in turn}`; an entry is
 * `<time of the last heartbeat> <sealed>`
 */
export const HEARTBEAT: Script<'machines' | 'epoch' | 'changes', 'machine' | 'entry' | 'keptMs' | 'most'> =
  script(`
${NOW}
local all = redis.call('HGETALL', KEYS.machines)
local count = 0
for i = 1, #all, 2 do
  local seen = tonumber(string.match(all[i + 1], '^%d+'))
  if not seen or seen + tonumber(ARGV.keptMs) < now then redis.call('HDEL', KEYS.machines, all[i]) elseif all[i] ~= ARGV.machine then count = count + 1 end
end
if count < tonumber(ARGV.most) then redis.call('HSET', KEYS.machines, ARGV.machine, ARGV.entry) end
local last = redis.call('XREVRANGE', KEYS.changes, '+', '-', 'COUNT', 1)
return {now, redis.call('GET', KEYS.epoch) or '', last[1] and last[1][1] or '0-0', redis.call('HGETALL', KEYS.machines)}
`)

/**
 * Replaces the policy, unless another machine did so first.
 * `expected` is '' when there is no entry.
 * @returns 1 when it was replaced
 */
export const SET_POLICY: Script<'policy' | 'changes', 'expected' | 'entry' | 'changesKept' | 'machine'> =
  script(`
if (redis.call('GET', KEYS.policy) or '') ~= ARGV.expected then return 0 end
redis.call('SET', KEYS.policy, ARGV.entry)
redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'policy', '', 'from', ARGV.machine, 'entry', ARGV.entry)
return 1
`)

/**
 * The generic cell rate algorithm for `cost` units: see ../../rate-limit/gcra.ts. Times are in milliseconds. No debt
 * exceeds the whole burst, whichever machine wrote it.
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
 * The network may have `openMax` open challenges.
 * @returns milliseconds to wait, -1 for too many open challenges, or 0
 */
export const ISSUE_CHALLENGE: Script<
  'challenge' | 'open' | 'networkBudget' | 'relayBudget',
  | 'challenge'
  | 'entry'
  | 'ttlMs'
  | 'openMax'
  | 'units'
  | 'networkPerMinute'
  | 'networkBurst'
  | 'relayPerMinute'
  | 'relayBurst'
> = script(`
${NOW}${SPEND}
local cost = tonumber(ARGV.units)
local wait = math.max(waitFor(KEYS.networkBudget, cost, ARGV.networkPerMinute, ARGV.networkBurst), waitFor(KEYS.relayBudget, cost, ARGV.relayPerMinute, ARGV.relayBurst))
if wait > 0 then return math.ceil(wait) end
redis.call('ZREMRANGEBYSCORE', KEYS.open, '-inf', now)
if redis.call('ZCARD', KEYS.open) >= tonumber(ARGV.openMax) then return -1 end
spend(KEYS.networkBudget, cost, ARGV.networkPerMinute)
spend(KEYS.relayBudget, cost, ARGV.relayPerMinute)
redis.call('ZADD', KEYS.open, now + tonumber(ARGV.ttlMs), ARGV.challenge)
redis.call('PEXPIRE', KEYS.open, ARGV.ttlMs)
redis.call('SET', KEYS.challenge, ARGV.entry, 'PX', ARGV.ttlMs)
return 0
`)

/**
 * Takes a challenge, which cannot be taken again, and charges the client for the registration. Its entry is
 * `<name of the network that got it> <sealed>`.
 * `open` is the prefix of the keys of open challenges.
 * @returns `{milliseconds to wait, entry or false}`; a client that has to wait is not charged, and keeps the challenge
 */
export const TAKE_CHALLENGE: Script<
  'challenge' | 'networkBudget' | 'relayBudget',
  'open' | 'challenge' | 'units' | 'networkPerMinute' | 'networkBurst' | 'relayPerMinute' | 'relayBurst'
> = script(`
${NOW}${SPEND}
local cost = tonumber(ARGV.units)
local wait = math.max(waitFor(KEYS.networkBudget, cost, ARGV.networkPerMinute, ARGV.networkBurst), waitFor(KEYS.relayBudget, cost, ARGV.relayPerMinute, ARGV.relayBurst))
if wait > 0 then return {math.ceil(wait), false} end
local found = redis.call('GET', KEYS.challenge)
spend(KEYS.networkBudget, cost, ARGV.networkPerMinute)
spend(KEYS.relayBudget, cost, ARGV.relayPerMinute)
if not found then return {0, false} end
redis.call('DEL', KEYS.challenge)
redis.call('ZREM', ARGV.open .. string.match(found, '^%S*'), ARGV.challenge)
return {0, found}
`)

/** Returns units to a budget. */
export const REFUND: Script<'budget', 'units' | 'perMinute'> = script(`
${NOW}
local full = (tonumber(redis.call('GET', KEYS.budget) or '0') or 0) - tonumber(ARGV.units) * 60000 / tonumber(ARGV.perMinute)
if full > now then redis.call('SET', KEYS.budget, string.format('%.3f', full), 'PX', math.ceil(full - now)) else redis.call('DEL', KEYS.budget) end
return 0
`)

/**
 * Counts a wrong secret, unless there were `most` within the last `windowMs`.
 * @returns `{milliseconds to wait or 0, 1 if it is the first over the limit}`
 */
export const COUNT_FAILURE: Script<'failures' | 'exceeded', 'most' | 'windowMs'> = script(`
${NOW}
local window = tonumber(ARGV.windowMs)
local oldest = tonumber(redis.call('LINDEX', KEYS.failures, ARGV.most - 1) or '')
local wait = oldest and math.min(oldest + window - now, window) or 0
if wait > 0 then return {wait, redis.call('SET', KEYS.exceeded, '1', 'NX', 'PX', wait) and 1 or 0} end
redis.call('LPUSH', KEYS.failures, string.format('%.0f', now))
redis.call('LTRIM', KEYS.failures, 0, ARGV.most - 1)
redis.call('PEXPIRE', KEYS.failures, window)
return {0, 0}
`)

/**
 * Takes a lock, or extends one that the holder has.
 * @returns the holder, which may be another one
 */
export const LOCK: Script<'lock', 'holder' | 'lifetimeMs'> = script(`
local holder = redis.call('GET', KEYS.lock)
if holder and holder ~= ARGV.holder then return holder end
redis.call('SET', KEYS.lock, ARGV.holder, 'PX', ARGV.lifetimeMs)
return ARGV.holder
`)

/** Releases a lock, if the holder still has it. */
export const UNLOCK: Script<'lock', 'holder'> = script(`
if redis.call('GET', KEYS.lock) == ARGV.holder then redis.call('DEL', KEYS.lock) end
return 1
`)

/**
 * Writes all files to Redis, or none when one of them differs from what this machine expects. The argument
 * `files` has, for each, its name, the expected text in Redis or '', and the new text.
 * @returns 1 when they were written
 */
export const PUT_FILES: Script<'changes' | 'files', 'changesKept' | 'machine' | 'files'> = script(`
local keys = KEYS.files[]
local files = ARGV.files[]
for at, key in ipairs(keys) do
  if (redis.call('GET', key) or '') ~= files[3 * at - 1] then return 0 end
end
for at, key in ipairs(keys) do
  local name, text = files[3 * at - 2], files[3 * at]
  redis.call('SET', key, text)
  redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'file', name, 'from', ARGV.machine, 'entry', text)
end
return 1
`)

/** Adds a change of the policy to the list of the last ones. */
export const KEEP_POLICY_CHANGE: Script<'changes', 'entry' | 'count'> = script(`
redis.call('LPUSH', KEYS.changes, ARGV.entry)
redis.call('LTRIM', KEYS.changes, 0, ARGV.count - 1)
return 1
`)

/** Whether the entry of a snapshot, `<end> <name of the machine or -> <time of the change> <sealed>`, names a machine. */
const NAMES = `
local function names(entry, machine) return string.match(entry, '^%d+ (%S+) ') == machine end
`

/**
 * Records which machine has a site's snapshot. The entry stays for a while after the snapshot's end, which may have
 * moved. `expected` is the machine that an existing entry must name, or ''.
 * @returns id of the change; `0-0` when the entry names another one
 */
export const PUT_SNAPSHOT: Script<
  'snapshot' | 'index' | 'changes',
  'identity' | 'end' | 'keptMs' | 'entry' | 'changesKept' | 'machine' | 'expected'
> = script(`
${NOW}${NAMES}
local known = redis.call('GET', KEYS.snapshot)
if known and ARGV.expected ~= '' and not names(known, ARGV.expected) then return '0-0' end
local left = tonumber(ARGV.end) + tonumber(ARGV.keptMs) - now
if left < 1 then left = 1 end
redis.call('SET', KEYS.snapshot, ARGV.entry, 'PX', left)
redis.call('ZREMRANGEBYSCORE', KEYS.index, '-inf', now)
redis.call('ZADD', KEYS.index, now + left, ARGV.identity)
return redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'snapshot', ARGV.identity, 'from', ARGV.machine, 'entry', ARGV.entry)
`)

/**
 * Records that a site has removed its snapshot. This stays for as long as the entry would have stayed: a machine that
 * is away may still have the files.
 * @returns id of the change
 */
export const REMOVE_SNAPSHOT: Script<
  'snapshot' | 'changes',
  'identity' | 'entry' | 'changesKept' | 'machine'
> = script(`
if redis.call('EXISTS', KEYS.snapshot) == 1 then redis.call('SET', KEYS.snapshot, ARGV.entry, 'KEEPTTL') end
return redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'snapshot', ARGV.identity, 'from', ARGV.machine, 'entry', ARGV.entry)
`)

/**
 * Records that a machine no longer has a site's snapshot. `name` is that of the machine,
 * and `machine` that of its run.
 */
export const FORGET_SNAPSHOT: Script<
  'snapshot' | 'index' | 'changes',
  'identity' | 'name' | 'changesKept' | 'machine' | 'entry'
> = script(`
${NAMES}
local known = redis.call('GET', KEYS.snapshot)
if not known or not names(known, ARGV.name) then return 0 end
redis.call('DEL', KEYS.snapshot)
redis.call('ZREM', KEYS.index, ARGV.identity)
redis.call('XADD', KEYS.changes, 'MAXLEN', '~', ARGV.changesKept, '*', 'snapshot', ARGV.identity, 'from', ARGV.machine, 'entry', ARGV.entry)
return 1
`)
