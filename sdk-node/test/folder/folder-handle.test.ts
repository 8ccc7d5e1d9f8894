// A folder of the file system behind the `files` handler: what is inside is served, and nothing else can be reached.

import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFile,
  mkdir,
  mkdtemp,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { files } from '@svc/sdk-node/handlers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFolder } from '../../src/index.ts'

let base: string
let root: string
let ask: (path: string, headers?: Record<string, string>) => Promise<Response>

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'svc-folder-'))
  root = join(base, 'shared')
  await mkdir(join(root, 'below'), { recursive: true })
  await writeFile(join(base, 'secret.txt'), 'secret')
  await mkdir(join(base, 'shared-not'))
  await writeFile(join(base, 'shared-not', 'a.txt'), 'secret')
  await writeFile(join(root, 'index.html'), '<h1>hello')
  await writeFile(join(root, 'below', 'a.txt'), '0123456789')
  await writeFile(join(root, '.env'), 'secret')
  const handler = files(await openFolder(root), { listing: true, archive: true })
  ask = async (path, headers = {}) =>
    handler(new Request(new URL(path, 'https://a.example'), { headers }), undefined as never)
})
afterEach(() => rm(base, { recursive: true }))

describe('a file inside', () => {
  it('has type, length and time, and is the index of its folder', async () => {
    const response = await ask('/')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-length')).toBe('9')
    expect(await response.text()).toBe('<h1>hello')
  })

  it('is resumed by a range, and not sent again to who has it', async () => {
    await utimes(join(root, 'below/a.txt'), 1_700_000_000, 1_700_000_000)
    const part = await ask('/below/a.txt', { Range: 'bytes=3-5' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 3-5/10',
      '345',
    ])
    const etag = part.headers.get('etag')!
    expect((await ask('/below/a.txt', { 'If-None-Match': etag })).status).toBe(304)
    await appendFile(join(root, 'below/a.txt'), 'x')
    expect((await ask('/below/a.txt', { 'If-None-Match': etag })).status).toBe(200)
  })

  it('is the one at the time of the request', async () => {
    await writeFile(join(root, 'new.txt'), 'new')
    expect(await (await ask('/new.txt')).text()).toBe('new')
    expect(await (await ask('/')).text()).toBe('<h1>hello')
  })

  it('that grows while it is sent arrives with the length that it had, whole and in part', async () => {
    const path = join(root, 'below/a.txt')
    const content = randomBytes(300_000)
    await writeFile(path, content)
    const answers = [await ask('/below/a.txt'), await ask('/below/a.txt', { Range: 'bytes=100-299999' })]
    await appendFile(path, 'one more line')
    const [whole, part] = answers.map(({ body }) => body!.getReader())
    const first = [(await whole!.read()).value!, (await part!.read()).value!]
    await appendFile(path, 'another line')
    const rest = async (reader: ReadableStreamDefaultReader<Uint8Array>, begun: Uint8Array) => {
      const pieces = [begun]
      for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value)
      return Buffer.concat(pieces)
    }
    expect(answers.map(({ headers }) => headers.get('content-length'))).toEqual(['300000', '299900'])
    expect((await rest(whole!, first[0]!)).equals(content)).toBe(true)
    expect((await rest(part!, first[1]!)).equals(content.subarray(100))).toBe(true)
  })

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is written anew', (path) => writeFile(path, 'abcdefghij').then(() => utimes(path, 1, 1))],
    ['is cut', (path) => truncate(path, 4)],
    ['is replaced', (path) => writeFile(`${path}~`, 'abcdefghijklm').then(() => rename(`${path}~`, path))],
  ])('that %s while it is sent breaks the transfer off', async (_, change) => {
    const response = await ask('/below/a.txt')
    await change(join(root, 'below/a.txt'))
    await expect(response.text()).rejects.toThrow()
  })
})

describe('names', () => {
  it.each(['NFC', 'NFD'])('in %s are found in either form of Unicode', async (form) => {
    const name = 'caf\u00e9'
    await mkdir(join(root, name.normalize(form)))
    await writeFile(join(root, name.normalize(form), `${name}.txt`.normalize(form)), 'found')
    for (const asked of ['NFC', 'NFD'].map((other) => encodeURIComponent(name.normalize(other)))) {
      expect(await (await ask(`/${asked}/${asked}.txt`)).text()).toBe('found')
      expect((await ask(`/${asked}`)).status).toBe(301)
      expect(await (await ask(`/${asked}/`)).text()).toContain('.txt')
    }
  })

  it.skipIf(sep === '\\')('have a backslash where the system allows it, which leads nowhere', async () => {
    await writeFile(join(root, 'a\\b.txt'), 'found')
    expect(await (await ask('/a%5Cb.txt')).text()).toBe('found')
    expect(await (await ask('/')).status).toBe(200)
    for (const path of ['/below%5Ca.txt', '/..%5Csecret.txt', '/below%5C..%5C..%5Csecret.txt'])
      expect((await ask(path)).status).toBe(404)
  })
})

describe('builds that were compressed before', () => {
  const gzip = { 'Accept-Encoding': 'gzip, br;q=0' }
  const seen = ({ status, headers }: Response): unknown[] => [
    status,
    headers.get('content-type'),
    headers.get('content-encoding'),
    headers.get('vary'),
  ]

  it('are served with their coding and the type of what is in them, and as they are to others', async () => {
    await writeFile(join(root, 'game.wasm.gz'), 'coded')
    expect(seen(await ask('/game.wasm.gz', gzip))).toEqual([
      200,
      'application/wasm',
      'gzip',
      'Accept-Encoding',
    ])
    const plain = await ask('/game.wasm.gz')
    expect(seen(plain)).toEqual([200, 'application/gzip', null, 'Accept-Encoding'])
    const [one, other] = [plain, await ask('/game.wasm.gz', gzip)].map(({ headers }) => headers.get('etag')!)
    expect(one).not.toBe(other)
    expect((await ask('/game.wasm.gz', { ...gzip, 'If-None-Match': other! })).status).toBe(304)
  })

  it('stand in for the file beside them while they are not older, and others may not', async () => {
    for (const [name, content] of [
      ['app.js', 'plain'],
      ['app.js.br', 'br'],
      ['app.js.gz', 'gz'],
      ['a.csv', 'plain'],
      ['a.csv.gz', 'gz'],
    ])
      await writeFile(join(root, name!), content!)
    const texts = async (path: string, headers = {}) => (await ask(path, headers)).text()
    expect(await texts('/app.js', { 'Accept-Encoding': 'gzip, deflate, br' })).toBe('br')
    expect(await texts('/app.js', gzip)).toBe('gz')
    expect(seen(await ask('/app.js', gzip))).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'gzip',
      'Accept-Encoding',
    ])
    expect(seen(await ask('/app.js'))).toEqual([
      200,
      'text/javascript; charset=utf-8',
      null,
      'Accept-Encoding',
    ])
    expect(await texts('/a.csv', gzip)).toBe('plain')
    expect(seen(await ask('/a.csv.gz', gzip))).toEqual([200, 'application/gzip', null, null])
    await utimes(join(root, 'app.js.gz'), 1, 1)
    expect(await texts('/app.js', gzip)).toBe('plain')
  })
})

describe('symbolic links', () => {
  it('are followed inside', async () => {
    await symlink('below', join(root, 'alias'))
    await symlink('../index.html', join(root, 'below', 'home.html'))
    expect(await (await ask('/alias/a.txt')).text()).toBe('0123456789')
    expect((await ask('/below/home.html')).status).toBe(200)
  })

  it.each([
    ['a file outside', '../secret.txt', '/link'],
    ['a folder outside', '..', '/link/secret.txt'],
    ['a folder whose name begins the same', '../shared-not', '/link/a.txt'],
    ['an absolute path', '/etc', '/link/passwd'],
    ['nothing', 'missing', '/link'],
    ['itself', 'link', '/link'],
  ])('to %s are not, and are not listed', async (_, target, path) => {
    await symlink(target, join(root, 'link'))
    await mkdir(join(root, 'list'))
    await symlink(join('..', target), join(root, 'list', 'link'))
    expect((await ask(path)).status).toBe(404)
    expect(await (await ask('/list/')).text()).not.toContain('link</a>')
  })
})

describe('what is hidden', () => {
  beforeEach(async () => {
    await mkdir(join(root, '.git', 'hooks'), { recursive: true })
    await writeFile(join(root, '.git', 'config'), 'secret')
    await mkdir(join(root, '.well-known'))
    await writeFile(join(root, '.well-known', 'a.txt'), 'known')
    for (const name of ['GIT~1', 'git~12']) await mkdir(join(root, name))
    await writeFile(join(root, 'GIT~1', 'config'), 'secret')
    await writeFile(join(root, 'ENV~1.TXT'), 'secret')
    await writeFile(join(root, 'backup~'), 'a backup')
    await writeFile(join(root, 'version~2 of it.txt'), 'a long name')
    await symlink('.git', join(root, 'linked'))
    await symlink('.git/config', join(root, 'config'))
    await symlink('../.git/hooks', join(root, 'below', 'hooks'))
    await symlink('linked', join(root, 'twice'))
    await symlink('.well-known', join(root, 'known'))
  })
  const hidden = ['/.git/config', '/linked/config', '/linked/', '/config', '/below/hooks/', '/twice/config']
  const shortNames = ['/GIT~1/config', '/git~12/', '/ENV~1.TXT', '/%47IT%7E1/config']

  it.each([...hidden, ...shortNames])('%s finds nothing', async (path) => {
    expect((await ask(path)).status).toBe(404)
  })

  it('is not listed either, by whatever name', async () => {
    const list = await (
      await files(await openFolder(root), { listing: true, index: false })(
        new Request('https://a.example/'),
        undefined as never,
      )
    ).text()
    for (const name of ['.git', 'linked', 'config', 'twice', '~1', '~12']) expect(list).not.toContain(name)
    for (const name of ['below', 'known', 'backup~', 'version~2']) expect(list).toContain(name)
  })

  it.each(['/known/a.txt', '/.well-known/a.txt', '/backup~', '/version~2%20of%20it.txt'])(
    '%s is not',
    async (path) => {
      expect((await ask(path)).status).toBe(200)
    },
  )

  it.each(['/.git/config', '/linked/config', '/config', '/below/hooks/', '/GIT~1/config', '/.env'])(
    '%s is served to who wants it so',
    async (path) => {
      const handler = files(await openFolder(root, { hidden: true }), { listing: true, hidden: true })
      expect((await handler(new Request(`https://a.example${path}`), undefined as never)).status).toBe(200)
    },
  )
})

it.each([
  '/../secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/below/..%2f..%2fsecret.txt',
  '/below%2fa.txt',
  '/%00',
  '/.env',
  '//etc/passwd',
  '/index.html/',
  '/missing',
])('%s finds nothing', async (path) => {
  expect((await ask(`https://a.example${path}`)).status).toBe(404)
})

it('what is neither file nor folder is not there', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  expect((await ask('/pipe')).status).toBe(404)
})

it.each(['missing', 'secret.txt'])('%s is no folder to serve', async (name) => {
  await expect(openFolder(join(base, name))).rejects.toMatchObject({ code: 'invalid_option' })
})

describe.skipIf(!hasUnzip())('an archive', () => {
  it('is one for other programs, and follows no link round and round', async () => {
    await writeFile(join(root, 'below/ü.bin'), randomBytes(200_000))
    await symlink('../below', join(root, 'below', 'again'))
    const archive = join(base, 'a.zip')
    await writeFile(archive, new Uint8Array(await (await ask('/below/?zip')).arrayBuffer()))
    expect(execFileSync('unzip', ['-tq', archive], { encoding: 'utf8' })).toContain('No errors detected')
    const names = execFileSync('unzip', ['-Z1', archive], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } })
    expect(names.trim().split('\n').sort()).toEqual(['below/a.txt', 'below/ü.bin'])
    expect(execFileSync('unzip', ['-p', archive, 'below/a.txt'], { encoding: 'utf8' })).toBe('0123456789')
  })
})

function hasUnzip(): boolean {
  return spawnSync('unzip', ['-v']).error === undefined
}
