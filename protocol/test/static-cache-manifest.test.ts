// The manifest of a snapshot: which paths, sizes and hashes it may have, and what its error says.

import { describe, expect, test } from 'vitest'
import fc from '../../tools/fast-check.ts'
import {
  CACHE_FILES_MAX,
  CACHE_PATH_MAX_CHARS,
  compareCachePaths,
  isSafeCachePath,
  parseManifest,
  type StaticCacheFile,
} from '../src/index.ts'

const LIMITS = { maxExposureBytes: 1000, maxObjectBytes: 100 }
const HASH = 'ab'.repeat(32)

function file(path: unknown, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { path, size: 1, sha256: HASH, ...changes }
}

function parsePaths(...paths: unknown[]): StaticCacheFile[] {
  return parseManifest({ index: paths[0], files: paths.map((path) => file(path)) }, LIMITS).files
}

describe('paths that a file may have', () => {
  test.each([
    'index.html',
    'a',
    'assets/main-0123abcd.js',
    '.well-known/security.txt',
    '..data/x',
    'a..b',
    'a name.txt',
    ' a',
    '50%.txt',
    'a%20b',
    '%zz',
    'a?b#c',
    '[slug].html',
    'ä.txt',
    '日本/語.html',
    '😀.png',
    'console.js',
    'com/index.html',
    'nullable',
    'a'.repeat(CACHE_PATH_MAX_CHARS),
  ])('%j', (path) => {
    expect(isSafeCachePath(path)).toBe(true)
    expect(parsePaths(path)).toEqual([{ path, size: 1, sha256: HASH }])
  })

  test('letters of other case are other files', () => {
    expect(parsePaths('README.md', 'readme.md')).toHaveLength(2)
  })
})

describe('paths that no file may have (protocol §15.1.2)', () => {
  test.each([
    ['', 'empty segment'],
    ['/etc/passwd', 'empty segment'],
    ['//host/x', 'empty segment'],
    ['a//b', 'empty segment'],
    ['a/', 'empty segment'],
    ['.', 'the segment .'],
    ['..', 'the segment ..'],
    ['../x', 'the segment ..'],
    ['a/../../x', 'the segment ..'],
    ['a/./b', 'the segment .'],
    ['a\\b', 'backslash'],
    ['..\\x', 'backslash'],
    ['a\0.html', 'control character'],
    ['a\nb', 'control character'],
    ['a\x7f', 'control character'],
    ['a\x85', 'control character'],
    ['a\ud800', 'half a character'],
    ['\udc00/b', 'half a character'],
    ['%2e%2e/x', 'percent-decoded'],
    ['%2E%2E/x', 'percent-decoded'],
    ['a%2fb', 'percent-decoded'],
    ['a%5Cb', 'percent-decoded'],
    ['a%00', 'percent-decoded'],
    ['a%0d%0ab', 'percent-decoded'],
    ['a%7Fb', 'percent-decoded'],
    ['a%252fb', 'percent-decoded'],
    ['a\u0308.txt', 'NFC'],
    ['\u212b', 'NFC'],
    ['C:/x', 'colon'],
    ['a.html:stream', 'colon'],
    ['...', 'ends with a dot'],
    ['a./b', 'ends with a dot'],
    ['a /b', 'ends with a dot or a blank'],
    ['CON', 'device'],
    ['a/nul.html', 'device'],
    ['Aux.tar.gz', 'device'],
    ['prn', 'device'],
    ['com1', 'device'],
    ['LPT9.txt', 'device'],
    ['com\u00b2', 'device'],
    ['a'.repeat(CACHE_PATH_MAX_CHARS + 1), 'longer than'],
  ])('%j', (path, reason) => {
    expect(isSafeCachePath(path)).toBe(false)
    expect(() => parsePaths(path)).toThrow(reason)
  })

  test('a file that is the directory of another one, also with paths between both', () => {
    for (const paths of [
      ['a', 'a/b'],
      ['a', 'a-b', 'a.b', 'a/b/c'],
      ['x/y', 'x/y.html', 'x/y/z'],
    ])
      expect(() => parsePaths(...paths)).toThrow('both a file and a directory')
    expect(parsePaths('a', 'a-/b', 'ab/c', 'b')).toHaveLength(4)
  })

  test('whatever passes stays the same file for readers that are less exact', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab./\\% :\x025eECcONn\u0308') }), (path) => {
        fc.pre(isSafeCachePath(path))
        const decoded = decodeSafely(path)
        const { pathname } = new URL(path.split('/').map(encodeURIComponent).join('/'), 'http://host/')
        expect(decodeURIComponent(pathname)).toBe(`/${path}`)
        expect(decoded.split('/').length).toBe(path.split('/').length)
        expect(decoded.split('/')).not.toContain('..')
        expect(new TextDecoder().decode(new TextEncoder().encode(path)).normalize()).toBe(path)
      }),
    )
  })
})

describe('manifests', () => {
  test('are in the order of UTF-8, in which U+1F600 comes after U+FF5E although its code units are smaller (protocol §15.1.1)', () => {
    const files = ['a', 'a-', 'b', '\ud7ff', '\ue000', '\uff5e', '\u{10000}', '\u{1f600}']
    const bytes = (path: string): string =>
      [...new TextEncoder().encode(path)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const sorted = [...files].reverse().sort(compareCachePaths)
    expect(sorted.map(bytes)).toEqual(files.map(bytes).sort())
    expect(parseManifest({ index: 'a', files: sorted.map((path) => file(path)) }, LIMITS).files).toHaveLength(
      8,
    )
  })

  test('members that are not known are left out', () => {
    expect(parseManifest({ index: 'a', fallback: false, files: [file('a')] }, LIMITS).fallback).toBe(false)
    const value = { index: 'a', fallback: true, files: [file('a', { mode: 0o777 })], note: 1 }
    expect(parseManifest(value, LIMITS)).toEqual({ index: 'a', files: [file('a')] })
  })

  test.each([
    [null, 'the manifest is no JSON object'],
    [[], 'the manifest is no JSON object'],
    ['x', 'the manifest is no JSON object'],
    [{}, 'files of the manifest is no array'],
    [{ index: 'a', files: {} }, 'files of the manifest is no array'],
    [{ index: 'a', files: [] }, 'index of the manifest'],
    [{ index: 'b', files: [file('a')] }, 'index of the manifest'],
    [{ files: [file('a')] }, 'index of the manifest'],
    [{ index: 'a', files: [null] }, 'file 1 is no JSON object'],
    [{ index: 'a', files: [file(1)] }, 'path of file 1 is no string'],
    [{ index: 'a', files: [file('a', { size: -1 })] }, 'size of "a"'],
    [{ index: 'a', files: [file('a', { size: 1.5 })] }, 'size of "a"'],
    [{ index: 'a', files: [file('a', { size: '1' })] }, 'size of "a"'],
    [{ index: 'a', files: [file('a', { size: Number.MAX_SAFE_INTEGER + 1 })] }, 'size of "a"'],
    [{ index: 'a', files: [file('a', { size: 101 })] }, '101 bytes; 100 are allowed'],
    [{ index: 'a', files: [file('a', { sha256: HASH.toUpperCase() })] }, 'sha256 of "a"'],
    [{ index: 'a', files: [file('a', { sha256: `${HASH}0` })] }, 'sha256 of "a"'],
    [{ index: 'a', files: [file('a', { sha256: undefined })] }, 'sha256 of "a"'],
    [{ index: 'a', files: [file('a'), file('b', { size: 2 })] }, 'the sha256 of a file with another size'],
    [{ index: 'a', files: [file('a'), file('a')] }, '"a" is listed twice'],
    [{ index: 'a', files: [file('b'), file('a')] }, 'files are sorted by path'],
    [{ index: 'a', files: [file('\u{1f600}'), file('\uff5e')] }, 'files are sorted by path'],
  ])('%j: %s', (value, message) => {
    expect(() => parseManifest(value, LIMITS)).toThrow(message)
  })

  test('as many files and bytes as are allowed, and one more', () => {
    const files = Array.from({ length: CACHE_FILES_MAX }, (_, n) =>
      file(`${n}`.padStart(5, '0'), { size: 0 }),
    )
    expect(parseManifest({ index: '00000', files }, LIMITS).files).toHaveLength(CACHE_FILES_MAX)
    const more = [...files, file('99999')]
    expect(() => parseManifest({ index: '00000', files: more }, LIMITS)).toThrow(
      `more than ${CACHE_FILES_MAX}`,
    )
    const hash = (n: number): string => `${n}`.padStart(64, '0')
    const large = files.slice(0, 10).map((one, n) => ({ ...one, size: 100, sha256: hash(n) }))
    expect(parseManifest({ index: '00000', files: large }, LIMITS).files).toHaveLength(10)
    expect(() => parseManifest({ index: '00000', files: [...large, file('1')] }, LIMITS)).toThrow(
      '1001 bytes',
    )
  })

  test('a message repeats a part of a path at most, with its characters escaped', () => {
    const path = `\u001b[2J${'x'.repeat(CACHE_PATH_MAX_CHARS * 2)}`
    const error = catchError(() => parsePaths(path))
    expect(error.message.length).toBeLessThan(300)
    expect(error.message).not.toContain('\u001b')
  })
})

function catchError(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

/** As a reader that decodes a path a second time, and leaves alone what is not encoded. */
function decodeSafely(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
