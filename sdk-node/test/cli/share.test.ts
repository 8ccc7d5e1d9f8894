// `svc share` at a real relay: links from another shell, who may not ask, and what of a link survives a restart.

import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { text, visit } from '../support/exposed.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()
const { expose, svc } = own
/** The relay keeps a name for its owner, and each test has an identity of its own. */
let name: string
let count = 0
beforeEach(() => {
  count += 1
  name = `demo-${count}`
})

const sockets = (): string => join(own.home, 'svc/run/share')

const exposeShared = (...args: string[]): ReturnType<typeof own.expose> =>
  expose('--name', name, '--password', 'open sesame', ...args)

const said = (...args: string[]): Promise<Record<string, string>[]> => own.said('share', ...args)

const made = async (...args: string[]): Promise<Record<string, string>> => (await said(...args))[0]!
const secretOf = ({ url }: Record<string, string>): string => new URL(url!).hash.slice('#svc-share='.length)

/** Signs in with a link as the page of the sign-in does. Resolves with the cookie, or undefined. */
async function signIn(url: string, link: Record<string, string>): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json', origin: new URL(url).origin }
  const body = JSON.stringify({ secret: secretOf(link) })
  const answer = await visit(own.relay, url, '/.svc/access/share', { method: 'POST', headers, body })
  answer.resume()
  return [answer.headers['set-cookie']].flat()[0]?.split(';')[0]
}

async function statusOf(url: string, cookie: string): Promise<number | undefined> {
  return (await visit(own.relay, url, '/', { headers: { cookie } })).resume().statusCode
}

it('makes a link that lets in, lists who used it, and withdraws it with its sessions', async () => {
  const run = await exposeShared()
  const link = await made(name, '--expires', '2h', '--note', 'for Bob', '--path', '/page')
  expect(link).toMatchObject({ event: 'shared', tunnel: name, note: 'for Bob', once: false })
  expect(link.url).toMatch(/^https:\/\/demo-\d+\..*\/\.svc\/access\?next=%2Fpage#svc-share=[\w-]{43}$/)
  expect(Date.parse(link.until!)).toBeGreaterThan(Date.now() + 7_100_000)
  const cookie = await signIn(run.url, link)
  expect(await text(await visit(own.relay, run.url, '/', { headers: { cookie: cookie! } }))).toBe('hello')
  const { id, until } = link
  const listed = { event: 'share', tunnel: name, id, note: 'for Bob', once: false, until, uses: 1 }
  expect(await said('--list')).toEqual([
    { ...listed, created_at: expect.any(String), used_at: expect.any(String), address: '127.0.0.1' },
  ])
  expect(await said('--list', 'other')).toEqual([{ event: 'no_shares' }])
  expect(await said('--withdraw', id!)).toEqual([{ event: 'withdrawn', id }])
  expect([await statusOf(run.url, cookie!), await signIn(run.url, link)]).toEqual([401, undefined])
  expect(await said('--list')).toEqual([{ event: 'no_shares' }])
  expect(await said('--withdraw', id!)).toMatchObject([
    {
      event: 'failed',
      message: `there is no share link ${id}: svc share --list prints those that there are`,
    },
  ])
})

it('prints the URL alone, and a line for each link', async () => {
  await exposeShared()
  const [first, second] = [svc('share', '--once'), svc('share', name, '--note', 'for\nBob')]
  await Promise.all([first.ended, second.ended])
  for (const { out, err } of [first, second])
    expect([...err, ...out]).toEqual([expect.stringMatching(/^https:\/\/demo-\d+\./)])
  const list = svc('share', '--list')
  await list.ended
  expect(list.out.toSorted((one, other) => one.length - other.length)).toEqual([
    expect.stringMatching(/^[\da-f]{8} {2}demo-\d+ {2}for Bob {2}not used$/),
    expect.stringMatching(/^[\da-f]{8} {2}demo-\d+ {2}for one sign-in {2}not used$/),
  ])
})

it('a link for one sign-in is not replayed, also after a restart; the others stay', async () => {
  const first = await exposeShared()
  const once = await made('--once')
  const other = await made()
  const withdrawn = await made()
  expect(await signIn(first.url, once)).toBeDefined()
  await said('--withdraw', withdrawn.id!)
  await first.stop()
  const kept = join(own.home, `svc/identity@${name}.shares.json`)
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  const again = await exposeShared()
  expect((await said('--list')).map(({ id, uses }) => [id, uses])).toEqual([
    [once.id, 1],
    [other.id, 0],
  ])
  expect(await signIn(again.url, once)).toBeUndefined()
  expect(await signIn(again.url, withdrawn)).toBeUndefined()
  expect(await signIn(again.url, other)).toBeDefined()
})

it('the secret is in no output but that of the command, in no file and in no status', async () => {
  const run = await exposeShared()
  const link = await made()
  await signIn(run.url, link)
  const status = svc('status', '--json')
  await status.ended
  const entries = await readdir(join(own.home, 'svc'), { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  expect(names).toContain(`identity@${name}.shares.json`)
  const files = await Promise.all(names.map((name) => readFile(join(own.home, 'svc', name), 'utf8')))
  const all = [...run.out, ...run.err, ...status.out, ...files, JSON.stringify(await said('--list'))].join(
    '\n',
  )
  expect(all).toContain(link.id)
  expect(all).not.toContain(secretOf(link))
})

describe('says what to do', () => {
  it('without a tunnel', async () => {
    expect(await said()).toMatchObject([
      {
        event: 'failed',
        code: 'invalid_option',
        exit_code: 2,
        message: expect.stringContaining('start one'),
      },
    ])
    expect(await said('--list')).toEqual([{ event: 'no_shares' }])
  })

  it('with one that lets everybody in, and with another name', async () => {
    const { url } = await expose('--name', `open-${count}`, '--rate', '100/s')
    const needs = expect.stringContaining('a share link needs --password')
    for (const args of [[], [`open-${count}`], [url]])
      expect(await said(...args)).toMatchObject([{ message: needs }])
    expect(await said('other')).toMatchObject([{ message: expect.stringContaining('svc status') }])
  })

  it('with several: a name or a URL chooses', async () => {
    const tunnel = (name: string, access: string): string =>
      `[[tunnel]]\nname = "${name}"\nhttp = ${own.port}\n[tunnel.access]\n${access}\n`
    const tunnels = tunnel(name, 'password = "x"') + tunnel(`beside-${count}`, 'knock = true')
    const config = join(own.home, 'svc.toml')
    await writeFile(config, `relay = "${own.relay.origin}"\nca = "${own.relay.caFile}"\n${tunnels}`)
    const run = svc('start', '--config', config, '--json')
    await vi.waitFor(
      () => expect(run.out.filter((line) => line.includes('"online"'))).toHaveLength(2),
      20_000,
    )
    const { url } = run.out.map((line) => JSON.parse(line)).find(({ tunnel }) => tunnel === name)
    expect(await said()).toMatchObject([
      {
        message: expect.stringMatching(/^there are several tunnels: svc share [\w-]+, or svc share [\w-]+$/),
      },
    ])
    expect(await made(`beside-${count}`)).toMatchObject({ tunnel: `beside-${count}` })
    expect(await made(`${url}/page`)).toMatchObject({ tunnel: name })
  })

  it('with options that the site refuses, or that exclude each other', async () => {
    await exposeShared()
    expect(await said('--expires', 'soon')).toMatchObject([{ message: expect.stringContaining('until') }])
    expect(await said('--path', '//evil.example')).toMatchObject([
      { message: expect.stringContaining('path') },
    ])
    expect(await svc('share', '--list', '--once').ended).toBe(2)
    expect(await svc('share', '--withdraw', 'x', '--list').ended).toBe(2)
  })
})

describe('another user of this machine', () => {
  it('finds the socket closed, also where the folder was open before', async () => {
    await mkdir(sockets(), { recursive: true })
    await chmod(sockets(), 0o777)
    await exposeShared()
    const socket = join(sockets(), `${process.pid}.sock`)
    const modes = [await stat(sockets()), await stat(socket)].map(({ mode }) => mode & 0o777)
    expect(modes).toEqual([0o700, 0o600])
  })

  it.skipIf(process.getuid?.() !== 0)('cannot ask (needs root)', async () => {
    await exposeShared()
    // Everybody may pass the folders above, so that the socket's own folder has to refuse.
    for (const folder of [own.home, join(own.home, 'svc'), join(own.home, 'svc/run')])
      await chmod(folder, 0o755)
    const script = `require('node:net').connect(process.argv[1]).on('error', ({ code }) => console.log(code)).on('connect', () => { console.log('connected'); process.exit() })`
    const socket = join(sockets(), `${process.pid}.sock`)
    const ask = (uid: number): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, ['-e', script, socket], { uid, gid: uid, cwd: '/' })
    expect((await ask(65_534)).stdout).toBe('EACCES\n')
    expect((await ask(0)).stdout).toBe('connected\n')
  })
})

it.each(['', 'x', '{', '[]', '{"make":{"url":"https://evil.example"}}', '"'.repeat(20_000)])(
  'a question that is none makes no link: %.40s',
  async (question) => {
    await exposeShared()
    const socket = connect(join(sockets(), `${process.pid}.sock`))
    socket.on('error', () => {})
    socket.end(question)
    const answer = Buffer.concat(await socket.toArray().catch(() => [])).toString()
    expect(answer).not.toContain('svc-share')
    expect(await said('--list')).toEqual([{ event: 'no_shares' }])
  },
)
