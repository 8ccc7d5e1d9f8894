// `svc serve --cache` at a real relay: what visitors get while svc runs and afterwards, and what svc says of it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CACHE_FILES_MAX } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { curl } from '../../../tools/programs/curl.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { expose } from '../../src/index.ts'
import { TEST_TIMEOUT_MS, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { environment, MAIN, type Run, reported, runHere, runSvc } from '../support/svc.ts'

const PATIENT = { timeout: TEST_TIMEOUT_MS }
/** Seconds that the relay allows, and that a site asks for. */
const TTL_MAX_S = 3600
const TTL_S = 600

const relay = useStarted(() =>
  startTestRelay({ STATIC_CACHE_ENABLED: 'true', STATIC_CACHE_TTL_MAX: String(TTL_MAX_S) }),
)

let home: string
let folder: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-cache-'))
  folder = join(home, 'dist')
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'index.html'), '<h1>from the folder</h1>')
  await writeFile(join(folder, 'assets', 'main.js'), 'let main')
  await writeFile(join(folder, '.secret'), 'hidden')
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  await rm(home, { recursive: true })
})

function svc(...args: string[]): Run {
  const run = runHere(home, args)
  running.push(run)
  return run
}

const at = (where = relay): string[] => ['--relay', where.origin, '--ca', where.caFile]

/** Serves the folder until the relay has a copy. */
async function cached(name: string, ...args: string[]): Promise<Run & { url: string; canonicalUrl: string }> {
  const run = svc('serve', folder, '--cache', '--name', name, '--json', ...at(), ...args)
  const { url, canonical_url } = await reported(run, 'online')
  expect(await reported(run, 'cache')).toMatchObject({ present: true, relay: relay.origin, canonical_url })
  return { ...run, url: url!, canonicalUrl: canonical_url! }
}

async function get(url: string, path = '/'): Promise<string> {
  return await text(await visit(relay, url, path))
}

async function output(...args: string[]): Promise<{ out: string[]; code: number }> {
  const { out, ended } = svc(...args)
  return { code: await ended, out }
}

describe('svc serve --cache', () => {
  it('keeps the folder up at the canonical URL when svc has ended', async () => {
    const { out, url, canonicalUrl, interrupt, ended } = await cached('lasting', '--cache-ttl', `${TTL_S}`)
    expect(await get(url)).toContain('from the folder')
    expect(await get(canonicalUrl, '/assets/main.js')).toBe('let main')
    interrupt()
    expect(await ended).toBe(0)
    const closed = JSON.parse(out.at(-1)!)
    expect(closed).toMatchObject({ event: 'closed', cache: { present: true } })
    // the time that was asked for, after two minutes without a renewal
    expect(Date.parse(closed.cache.expires_at)).toBeLessThanOrEqual(Date.now() + (TTL_S + 120) * 1000)
    expect(await get(canonicalUrl)).toContain('from the folder')
    expect(await get(canonicalUrl, '/assets/main.js')).toBe('let main')
    expect((await visit(relay, canonicalUrl, '/.secret')).statusCode).toBe(404)
    await expect(get(url)).rejects.toThrow()
  })

  it('says in words who can read what, and until when', async () => {
    const run = svc('serve', folder, '--cache', '--name', 'worded', ...at())
    await expect.poll(() => run.out.length, PATIENT).toBe(2)
    expect(run.out[1]).toMatch(
      /keeps a copy until [\d: -]+, also when svc ends: https:\/\/worded-[0-9a-f]{40}\.\S+ shows it, and the relay can read what passes there$/,
    )
    expect((await output('status')).out.join()).toMatch(/ {2}a copy until [\d: -]+ {2}pid /)
    run.interrupt()
    await run.ended
    expect(run.out.at(-1)).toMatch(/^taken off https:\S+, which keeps its copy until [\d: -]+ at the latest$/)
  })

  wholeOnly(it, 'depth')('takes a folder with as many files as a snapshot may have', async () => {
    const files = Array.from({ length: CACHE_FILES_MAX - 2 }, (_, number) => `${number}.txt`)
    for (const name of files) await writeFile(join(folder, 'assets', name), name)
    const { canonicalUrl, interrupt, ended } = await cached('whole')
    interrupt()
    expect(await ended).toBe(0)
    for (const name of [files[0]!, files.at(-1)!])
      expect(await get(canonicalUrl, `/assets/${name}`)).toBe(name)
  })

  wholeOnly(it, 'faults')('survives a process that is killed, for curl as for others', async () => {
    const run = runSvc(home, ['serve', folder, '--cache', '--name', 'killed', '--json', ...at()])
    running.push(run)
    const { canonical_url } = await reported(run, 'online')
    await reported(run, 'cache')
    await run.stop()
    expect(String(await curl(relay.caFile, `${canonical_url}/a/place`))).toContain('from the folder')
  })

  wholeOnly(it, 'appearance')('is on the live view of a terminal, with words for what stays', async () => {
    const args = ['serve', folder, '--cache', '--name', 'viewed', ...at()]
    const command = [process.execPath, MAIN, ...args].map((arg) => `'${arg}'`).join(' ')
    const child = spawn('script', ['-qec', `stty cols 200 rows 40; exec ${command}`, '/dev/null'], {
      env: { ...environment(home), TERM: 'xterm' },
      stdio: 'pipe',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let shown = ''
    child.stdout.on('data', (bytes) => {
      shown += bytes
    })
    await expect
      .poll(() => shown, PATIENT)
      .toMatch(
        /the relay keeps a copy until [\d: -]+ and can read what passes at https:\/\/viewed-[0-9a-f]{40}\./,
      )
    expect(shown).toContain('Ctrl-C takes it off the relay, which keeps its copy')
    child.stdin.write('\x03')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(shown).toMatch(/taken off https:\S+, which keeps its copy until [\d: -]+ at the latest/)
  })

  it('removes the copy when the folder is served without it', async () => {
    const first = await cached('taken-back')
    await first.stop()
    expect(await get(first.canonicalUrl)).toContain('from the folder')
    const run = svc('serve', folder, '--name', 'taken-back', '--json', ...at())
    await reported(run, 'online')
    await writeFile(join(folder, 'index.html'), 'live')
    expect(await get(first.canonicalUrl)).toBe('live')
  })

  it('is shown by svc status', async () => {
    await cached('shown')
    const { out } = await output('status', '--json')
    expect(out.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        tunnel: 'shown',
        cache: { present: true, expires_at: expect.stringMatching(/^\d{4}-/) },
      }),
    ])
  })

  it('is an error where the folder has no index, and the site is online all the same', async () => {
    await rm(join(folder, 'index.html'))
    const run = svc('serve', folder, '--cache', '--name', 'bare', '--json', ...at())
    const { url } = await reported(run, 'online')
    expect(await reported(run, 'error')).toMatchObject({
      code: 'cache_files_invalid',
      message: expect.stringContaining('index.html'),
    })
    expect(await get(url!, '/assets/main.js')).toBe('let main')
  })

  it('is an error at a relay that stores nothing, and the site is online all the same', async () => {
    const other = await startTestRelay()
    try {
      const run = svc('serve', folder, '--cache', '--name', 'alone', '--json', ...at(other))
      const { url } = await reported(run, 'online')
      expect(await reported(run, 'error')).toMatchObject({ code: 'cache_unavailable' })
      expect(await text(await visit(other, url!))).toContain('from the folder')
      await run.stop()
    } finally {
      await other.close()
    }
  })

  it.each([
    ['a relay that is not trusted', ['--cache', '--ban-mitm'], /banMitm and cache exclude each other/],
    ['a time without a copy', ['--cache-ttl', '60'], /--cache-ttl is for --cache/],
    ['an invalid time', ['--cache', '--cache-ttl', '1h'], /cache\.ttl must be a whole number/],
    ['a time in the past', ['--cache', '--cache-ttl', '-1'], /cache\.ttl must be a whole number/],
  ])('with %s is wrong usage', async (_, args, message) => {
    const { out, code } = await output('serve', folder, '--name', 'wrong', '--json', ...at(), ...args)
    expect(code).toBe(2)
    expect(JSON.parse(out[0]!)).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(message),
    })
  })
})

it.each([
  ['banMitm', { banMitm: true }],
  ['tcp', { tcp: 1 }],
  ['udp', { udp: 1 }],
])('expose refuses cache with %s before it asks anybody', async (what, options) => {
  const cache = { files: { 'index.html': 'hello' } }
  const identityPath = join(home, 'never-made.json')
  const exposed = expose({
    relay: 'https://nowhere.invalid',
    identityPath,
    fetch: () => new Response(),
    cache,
    ...options,
  })
  await expect(exposed).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(what),
  })
})

describe('the self-probe of a site with a copy', () => {
  it('visits the friendly hostname, where TLS passes', async () => {
    const run = await cached('probed')
    await get(run.url)
    expect(await reported(run, 'probe')).toMatchObject({ verdict: 'not_seen_from_here' })
  })

  it('does not take place where the canonical hostname is the only one, and says so', async () => {
    const owner = svc('serve', folder, '--name', 'wanted', '--json', ...at())
    await reported(owner, 'online')
    const own = ['--identity-path', join(home, 'other.json'), '--allow-canonical']
    const run = await cached('wanted', ...own)
    expect(run.url).toBe(run.canonicalUrl)
    // a method that the copy does not answer goes to the site
    const answer = await visit(relay, run.canonicalUrl, '/', { method: 'POST', body: 'x' })
    expect(answer.statusCode).toBe(405)
    expect(await reported(run, 'probe')).toMatchObject({ verdict: 'cached' })
    expect((await output('status', '--json')).out.join()).toContain('"probe":"cached"')
  })
})

describe('svc doctor at a site with a copy', () => {
  async function doctor(name: string): Promise<{ code: number; said: Record<string, string>[] }> {
    const { out, code } = await output('doctor', '--name', name, '--json', ...at())
    return { code, said: out.map((line) => JSON.parse(line)) }
  }

  it('says that the relay ends TLS for it, and is content', async () => {
    await cached('healthy')
    await expect
      .poll(async () => (await doctor('healthy')).said.map(({ verdict }) => verdict), PATIENT)
      .toEqual(['own', 'cached'])
    const { code, said } = await doctor('healthy')
    expect(said[1]!.message).toMatch(/the relay's: it ends TLS here for its copy of the site's files, until /)
    expect(code).toBe(0)
  })

  wholeOnly(it, 'variant')(
    'cannot know it when svc has ended, and names the copy as one of the reasons',
    async () => {
      const run = await cached('gone')
      await expect.poll(async () => (await doctor('gone')).said[0]!.verdict, PATIENT).toBe('own')
      await run.stop()
      const { code, said } = await doctor('gone')
      expect(said).toMatchObject([
        { verdict: 'unreachable' },
        { verdict: 'other_key', advice: expect.stringContaining('--cache') },
      ])
      expect(code).toBe(8)
    },
  )
})
