// A FileSystemDirectoryHandle as the source, by its standard's own error names (File System, §2).

import { expect, test } from 'vitest'
import { files } from '../../src/handlers/files.ts'
import { ask } from './ask.ts'

type Tree = { [name: string]: File | Tree }

function handleOf(tree: Tree, name = ''): FileSystemDirectoryHandle {
  const child = (name: string, isFile: boolean): File | Tree => {
    if (/^\.{0,2}$|[/\\]/.test(name)) throw new TypeError('Name is not allowed')
    const found = Object.hasOwn(tree, name) ? tree[name]! : undefined
    if (!found) throw new DOMException('', 'NotFoundError')
    if (found instanceof File !== isFile) throw new DOMException('', 'TypeMismatchError')
    return found
  }
  return {
    kind: 'directory',
    name,
    getFileHandle: async (name: string) => ({ getFile: async () => child(name, true) }),
    getDirectoryHandle: async (name: string) => handleOf(child(name, false) as Tree, name),
    async *values() {
      for (const [name, found] of Object.entries(tree))
        yield { name, kind: found instanceof File ? 'file' : 'directory' }
    },
  } as Partial<FileSystemDirectoryHandle> as FileSystemDirectoryHandle
}

const root = handleOf({
  'a.txt': new File(['a'], 'a.txt'),
  sub: { 'index.html': new File(['sub'], 'index.html') },
})

test('files, indexes, redirects and listings', async () => {
  const handler = files(root, { listing: true })
  expect(await (await ask(handler, '/a.txt')).text()).toBe('a')
  expect(await (await ask(handler, '/sub/')).text()).toBe('sub')
  expect((await ask(handler, '/sub')).headers.get('location')).toBe('sub/')
  const listing = await (await ask(handler, '/')).text()
  expect(listing).toMatch(/href=".\/sub\/".*href=".\/a.txt"/s)
  expect(listing).toContain('1 folder, 1 file, 1 B')
})

test.each(['/none', '/none/', '/a.txt/', '/a.txt/x', '/sub/none', '/sub/%2e%2e%2fa.txt'])(
  'nothing is at %s',
  async (path) => {
    expect((await ask(files(root, { listing: true }), path)).status).toBe(404)
  },
)

test('a permission that was taken back is a failure, not an absence', async () => {
  const gone = handleOf({})
  gone.getFileHandle = async () => {
    throw new DOMException('no permission', 'NotAllowedError')
  }
  await expect(ask(files(gone), '/a')).rejects.toThrow('no permission')
})
