// A site with the option `cache`: what the relay gets of its files, when, and what the site says when it gets nothing.

import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { CacheFiles, CacheOptions } from '../../src/cache/cache-options.ts'
import { publishOn } from '../../src/publish.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import type { Site, SiteErrorEvent } from '../../src/site/site.ts'
import { CacheDouble } from '../support/cache-double.ts'
import { RelayDouble, testPlatform } from '../support/relay-double.ts'

let relay: RelayDouble
let cache: CacheDouble
let sites: Site[]
let errors: { code: string; message: string }[]

beforeEach(async () => {
  relay = await RelayDouble.start()
  cache = new CacheDouble(relay)
  sites = []
  errors = []
})
afterEach(async () => {
  await Promise.all(sites.map((site) => site.close()))
  await relay.crash()
})

const PAGE = { 'index.html': 'hello', 'assets/main.js': 'run()' }

async function publishDemo(options: CacheOptions | undefined, more: Partial<PublishOptions> = {}) {
  const site = await publishOn(testPlatform(), {
    relay: relay.url,
    name: 'demo',
    fetch: () => new Response('live'),
    cache: options,
    onSite: (made) => {
      sites.push(made)
      made.addEventListener('error', ({ error }: SiteErrorEvent) => errors.push(error))
    },
    ...more,
  })
  return site
}

/** Publishes and waits until the relay has the files. */
async function publishStored(files: CacheOptions['files'], more: Partial<CacheOptions> = {}) {
  const site = await publishDemo({ files, ...more })
  await stored(site)
  return site
}

async function stored(site: Site): Promise<void> {
  await vi.waitFor(() => expect(site.cache?.present).toBe(true))
}

async function failed(): Promise<{ code: string; message: string }> {
  await vi.waitFor(() => expect(errors).not.toEqual([]))
  return errors[0]!
}

describe('a site', () => {
  it('stores its files once, sorted, with the token of its lease, and says until when', async () => {
    const site = await publishDemo({ files: PAGE })
    expect(site.cacheLimits).toEqual({ maxExposureBytes: 1000, maxObjectBytes: 100 })
    await once(site, 'cachechange')
    await stored(site)
    expect(site.cache?.expires_at).toBe('2030-01-02T03:04:05Z')
    expect([...cache.stored!]).toEqual([
      ['assets/main.js', 'run()'],
      ['index.html', 'hello'],
    ])
    expect(cache.manifests[0]!.index).toBe('index.html')
    expect(cache.calls).toEqual(['POST', 'PUT'])
    expect(new Set(cache.tokens)).toEqual(new Set(['access.1']))
    await site.cache?.refresh()
    expect(cache.calls).toEqual(['POST', 'PUT', 'POST'])
    expect(errors).toEqual([])
  })

  it('without the option asks for nothing', async () => {
    const site = await publishDemo(undefined)
    expect(site.cache).toBeUndefined()
    await site.close()
    expect(cache.calls).toEqual([])
  })

  it('leaves the files there when it closes', async () => {
    const site = await publishStored(PAGE)
    await site.close()
    expect(cache.stored?.size).toBe(2)
    expect(cache.count('DELETE')).toBe(0)
  })

  it('stores what changed, of a map that is read again and of a function', async () => {
    const files = new Map<string, string>(Object.entries(PAGE))
    const site = await publishStored(files)
    files.set('index.html', 'changed')
    await site.cache?.refresh()
    expect(cache.stored?.get('index.html')).toBe('changed')
    files.delete('assets/main.js')
    await site.cache?.refresh()
    expect([...cache.stored!.keys()]).toEqual(['index.html'])
  })

  it('removes the files and keeps them away until it is told to store them', async () => {
    const site = await publishStored(PAGE)
    await site.cache?.remove()
    expect(site.cache).toMatchObject({ present: false, expires_at: undefined })
    expect(cache.stored).toBeUndefined()
    relay.endLease(1001)
    await vi.waitFor(() => expect(site.state).toBe('reconnecting'))
    await vi.waitFor(() => expect(site.state).toBe('online'))
    expect(cache.stored).toBeUndefined()
    await site.cache?.refresh()
    expect(site.cache?.present).toBe(true)
    expect(cache.stored?.size).toBe(2)
  })

  it('removes files that are being uploaded', async () => {
    const arrived = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    cache.beforeUpload = async (request) => {
      arrived.resolve()
      request.on('close', () => aborted.resolve())
      await aborted.promise
    }
    const site = await publishDemo({ files: PAGE })
    await arrived.promise
    await site.cache?.remove()
    await aborted.promise
    expect(cache.calls).toEqual(['POST', 'PUT', 'DELETE'])
    expect(cache.stored).toBeUndefined()
    expect(errors).toEqual([])
  })

  it('looks at once when it has another lease', async () => {
    const site = await publishStored(PAGE)
    cache.stored = undefined
    relay.overrides['/sdk/renew'] = () => [
      404,
      { ok: false, error: { code: 'lease_not_found', message: '' } },
    ]
    relay.endLease(1001)
    await vi.waitFor(() => expect(cache.stored?.size).toBe(2))
    await stored(site)
  })

  it('looks again when its page comes back from the back/forward cache', async () => {
    const site = await publishStored(PAGE)
    const page = site as unknown as Site & { suspend(): void; resume(): void }
    page.suspend()
    await site.cache?.refresh()
    expect(cache.calls).toEqual(['POST', 'PUT'])
    page.resume()
    await vi.waitFor(() => expect(cache.calls).toEqual(['POST', 'PUT', 'POST']))
    expect(errors).toEqual([])
  })

  it('ends an upload when it closes', async () => {
    const closed = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    cache.beforeUpload = async (request) => {
      request.on('close', () => closed.resolve())
      arrived.resolve()
      await closed.promise
    }
    const site = await publishDemo({ files: PAGE })
    await arrived.promise
    await site.close()
    await closed.promise
    expect(errors).toEqual([])
    expect(site.cache?.present).toBe(false)
  })
})

describe('the files are', () => {
  const file = (name: string, content: string): File => new File([content], name)

  /** A file of a folder input. */
  const below = (path: string, content: string): File =>
    Object.defineProperty(file('', content), 'webkitRelativePath', { value: path })

  it.each<[string, CacheFiles]>([
    [
      'blobs, bytes and texts',
      { 'a/b': new Blob(['1']), c: new TextEncoder().encode('2'), 'index.html': '3' },
    ],
    ['a list', [below('top/a/b', '1'), file('c', '2'), file('index.html', '3')]],
    [
      'a build',
      {
        files: {
          'a/b': { text: '1', modified: 1 },
          c: { base64: 'Mg==', modified: 1 },
          'index.html': { text: '3', modified: 1 },
        },
      },
    ],
    [
      'files of a build',
      {
        'a/b': { text: '1', modified: 1 },
        c: { base64: 'Mg==', modified: 1 },
        'index.html': { text: '3', modified: 1 },
      },
    ],
    [
      'paths that are names of methods',
      new Map([
        ['a/b', '1'],
        ['c', '2'],
        ['index.html', '3'],
      ]),
    ],
  ])('%s', async (_, files) => {
    await publishStored(files)
    expect(Object.fromEntries(cache.stored!)).toEqual({ 'a/b': '1', c: '2', 'index.html': '3' })
  })

  it('of any path that a record can have, unless it is hidden', async () => {
    const files = {
      files: '1',
      get: '2',
      length: '3',
      size: '4',
      getFileHandle: '5',
      '.env': 's',
      'a/.git/b': 's',
      'GIT~1/b': 's',
      '.well-known/x': '6',
      'index.html': '7',
    }
    await publishStored(files)
    expect(Object.fromEntries(cache.stored!)).toEqual({
      '.well-known/x': '6',
      files: '1',
      get: '2',
      getFileHandle: '5',
      'index.html': '7',
      length: '3',
      size: '4',
    })
  })

  it('named in the form of Unicode that the relay takes', async () => {
    await publishStored({ 'index.html': '', 'e\u0301.txt': 'x' })
    expect([...cache.stored!.keys()]).toEqual(['index.html', '\u00e9.txt'])
  })

  it('read once while they do not change, and again when their time does', async () => {
    const read = vi.spyOn(Blob.prototype, 'arrayBuffer')
    let lastModified = 1
    const site = await publishStored(() => ({ 'index.html': new File(['hello'], 'x', { lastModified }) }))
    const reads = read.mock.calls.length
    await site.cache?.refresh()
    expect(read).toHaveBeenCalledTimes(reads)
    lastModified = 2
    await site.cache?.refresh()
    expect(read).toHaveBeenCalledTimes(reads + 1)
    read.mockRestore()
  })

  it('read one after the other, and not before all sizes are known to fit', async () => {
    let open = 0
    let most = 0
    const slow = (content: string): File =>
      Object.assign(new File([content], 'x'), {
        async arrayBuffer() {
          most = Math.max(most, ++open)
          await new Promise((resolve) => setTimeout(resolve, 5))
          open -= 1
          return new TextEncoder().encode(content).buffer
        },
      })
    const files = new Map(Array.from({ length: 5 }, (_, n) => [`${n}`, slow('x')]))
    files.set('index.html', slow('x'.repeat(101)))
    const site = await publishDemo({ files })
    expect(await failed()).toMatchObject({ code: 'cache_files_invalid' })
    expect(most).toBe(0)
    files.set('index.html', slow('x'))
    await site.cache?.refresh()
    await stored(site)
    expect(most).toBe(1)
  })

  it('read again when one changed unnoticed and the relay refused it', async () => {
    let content = 'hello'
    const site = await publishStored(() => ({ 'index.html': new File([content], 'x', { lastModified: 1 }) }))
    content = 'hallo'
    cache.stored = undefined
    await site.cache?.refresh()
    expect(await failed()).toMatchObject({ code: 'cache_files_invalid' })
    await site.cache?.refresh()
    expect(cache.stored!.get('index.html')).toBe('hallo')
  })
})

describe('files that cannot be stored are told of by name, and the live site goes on', () => {
  it.each<[string, () => CacheFiles | Promise<CacheFiles>, RegExp]>([
    ['nothing', () => ({}), /^there is no file to store$/],
    ['hidden ones alone', () => ({ '.env': 'x' }), /^there is no file/],
    [
      'none that is the index',
      () => ({ 'a.html': '' }),
      /^cache\.index "index\.html" is not one of the files$/,
    ],
    [
      'a large one',
      () => ({ 'index.html': '', 'a.bin': 'x'.repeat(101) }),
      /^"a\.bin" has 101 bytes; 100 are/,
    ],
    [
      'too much of them',
      () => Object.fromEntries([...PAGE_OF_MANY]),
      /have 1100 bytes together; 1000 are allowed/,
    ],
    [
      'too many',
      () => Object.fromEntries(Array.from({ length: 2049 }, (_, n) => [`${n}`, ''])),
      /more than 2048 files$/,
    ],
    [
      'a path out of the site',
      () => ({ 'index.html': '', 'a/../b': '' }),
      /"a\/\.\.\/b" has the segment \.\./,
    ],
    ['an absolute path', () => ({ '/index.html': '' }), /"\/index\.html" has an empty segment/],
    ['a number', () => ({ 'index.html': 7 as unknown as string }), /^the content of "index\.html" is not/],
    [
      'undefined',
      () => ({ 'index.html': undefined as unknown as string }),
      /content of "index\.html" is not/,
    ],
    ['neither text nor base64', () => ({ 'index.html': { modified: 1 } }), /^"index\.html" cannot be read/],
    ['a text in their place', () => './dist' as unknown as CacheFiles, /^cache\.files is not/],
    ['an error in their place', () => Promise.reject(new Error('no folder')), /cannot be listed: no folder$/],
  ])('%s', async (_, files, message) => {
    const site = await publishDemo({ files })
    expect(await failed()).toMatchObject({
      code: 'cache_files_invalid',
      message: expect.stringMatching(message),
    })
    await site.cache?.refresh()
    expect(errors).toHaveLength(1)
    expect(cache.calls).toEqual([])
    expect(site.state).toBe('online')
  })

  it('a file that cannot be read', async () => {
    const gone = new File(['x'], 'x')
    gone.arrayBuffer = () => Promise.reject(new DOMException('it is gone', 'NotReadableError'))
    await publishDemo({ files: { 'index.html': '', 'a.txt': gone } })
    expect(await failed()).toMatchObject({ message: expect.stringMatching(/^"a\.txt" cannot be read/) })
  })
})

const PAGE_OF_MANY: [string, string][] = Array.from({ length: 11 }, (_, n) => [
  n === 0 ? 'index.html' : `${n}`,
  'x'.repeat(100),
])

describe('a folder', () => {
  type Tree = { [name: string]: string | Tree }

  /** A FileSystemDirectoryHandle as a browser has it. */
  const handle = (name: string, tree: () => Tree): object => ({
    kind: 'directory',
    name,
    async getDirectoryHandle(child: string) {
      const found = tree()[child]
      if (typeof found !== 'object') throw new DOMException('', 'NotFoundError')
      return handle(child, () => found)
    },
    async getFileHandle(child: string) {
      const found = tree()[child]
      if (typeof found !== 'string') throw new DOMException('', 'NotFoundError')
      return { getFile: async () => new File([found], child, { lastModified: 1 }) }
    },
    async *values() {
      for (const [child, content] of Object.entries(tree()))
        yield { name: child, kind: typeof content === 'string' ? 'file' : 'directory' }
      yield { name: 'gone-meanwhile', kind: 'file' }
      yield { name: 'gone-as-well', kind: 'directory' }
    },
  })
  const folder = (tree: Tree): CacheFiles => handle('root', () => tree) as CacheFiles

  it('is stored with all below it but what is hidden', async () => {
    const tree = {
      'index.html': 'i',
      sub: { 'a.txt': 'a', deep: { b: 'b' } },
      '.git': { config: 's' },
      '.env': 's',
    }
    await publishStored(folder(tree))
    expect(Object.fromEntries(cache.stored!)).toEqual({
      'index.html': 'i',
      'sub/a.txt': 'a',
      'sub/deep/b': 'b',
    })
  })

  it('that leads into itself is refused, however deep it seems', async () => {
    const tree: Tree = { 'index.html': 'i' }
    tree.loop = tree
    await publishDemo({ files: folder(tree) })
    expect(await failed()).toMatchObject({
      code: 'cache_files_invalid',
      message: expect.stringMatching(/^the folder has more than 2048 files: "loop\//),
    })
    errors.length = 0
    const empty: Tree = {}
    empty.loop = empty
    await publishDemo({ files: folder(empty) }, { name: 'demo' })
    expect(await failed()).toMatchObject({
      message: expect.stringMatching(/^the folder has more than 4096 folders/),
    })
  })

  it('that may not be read any more is told of', async () => {
    const lost = {
      ...folder({}),
      values: () => {
        throw new DOMException('no permission', 'NotAllowedError')
      },
    }
    await publishDemo({ files: lost as unknown as CacheFiles })
    expect(await failed()).toMatchObject({ message: 'the files cannot be listed: no permission' })
  })
})

describe('a relay', () => {
  it('without a static cache is told of, and the site is there without it', async () => {
    relay.overrides['/sdk/domain'] = undefined
    const site = await publishDemo({ files: PAGE })
    expect(await failed()).toMatchObject({ code: 'cache_unavailable', message: /no static cache/ })
    await expect(site.cache?.remove()).rejects.toMatchObject({ code: 'cache_unavailable' })
    expect(site.cache?.present).toBe(false)
    expect(site.cacheLimits).toBeUndefined()
    expect(cache.calls).toEqual([])
  })

  wholeOnly(it, 'clock')('that refuses is told of once, and asked again', async () => {
    cache.refuse = () => [403, '{"ok":false,"error":{"code":"lease_rejected","message":"not you"}}']
    const site = await publishDemo({ files: PAGE })
    expect(await failed()).toMatchObject({
      code: 'cache_unavailable',
      message: 'the relay does not store the files: not you',
      cause: { code: 'lease_rejected' },
    })
    await site.cache?.refresh()
    expect(errors).toHaveLength(1)
    cache.refuse = () => undefined
    await stored(site)
    expect(site.state).toBe('online')
  })

  wholeOnly(it, 'clock')('that is busy is asked again, and told of when it stays so', async () => {
    cache.refuse = (method) => (method === 'PUT' ? [503, 'busy\n', { 'Retry-After': '1' }] : undefined)
    const site = await publishDemo({ files: PAGE })
    await vi.waitFor(() => expect(cache.count('PUT')).toBe(1))
    expect(errors).toEqual([])
    await site.cache?.refresh()
    expect(errors).toMatchObject([{ code: 'cache_unavailable', retryAfterMs: 1000 }])
    cache.refuse = () => undefined
    await stored(site)
    expect(errors).toHaveLength(1)
  })

  it.each(['{}', '{"ok":true,"data":{"present":"yes"}}', '{"ok":true,"data":{"present":true}}', 'hello'])(
    'that answers %j is told of',
    async (body) => {
      cache.refuse = () => [200, body]
      const site = await publishDemo({ files: PAGE })
      expect(await failed()).toMatchObject({
        code: 'cache_unavailable',
        cause: { code: 'unexpected_answer' },
      })
      expect(site.cache?.present).toBe(false)
    },
  )

  it('that did not delete the files makes remove reject', async () => {
    const site = await publishStored(PAGE)
    cache.refuse = () => [500, '{"ok":false,"error":{"code":"internal","message":"no"}}']
    await expect(site.cache?.remove()).rejects.toMatchObject({
      code: 'cache_unavailable',
      cause: { code: 'internal' },
    })
    expect(site.cache?.present).toBe(true)
  })
})
