// Compiled code and unpacked files lie only where no other user can put files of theirs.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cacheDirectory } from '../../src/cli/cache-directory.ts'

describe.skipIf(process.platform === 'win32' || process.platform === 'darwin')('the directory is', () => {
  let home: string
  let ofUser: string
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'svc-cache-'))
    ofUser = path.join(home, 'cache/svc')
    vi.stubEnv('XDG_CACHE_HOME', path.join(home, 'cache'))
    vi.stubEnv('TMPDIR', path.join(home, 'tmp'))
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  })

  test('the one of the unit, which systemd names first', () => {
    const [first, second] = [path.join(home, 'a'), path.join(home, 'b')]
    vi.stubEnv('CACHE_DIRECTORY', `${first}:${second}`)
    expect(cacheDirectory()).toBe(first)
    expect(statSync(first).mode & 0o777).toBe(0o700)
  })

  test('the user’s cache', () => {
    expect(cacheDirectory()).toBe(ofUser)
  })

  test('not one that others may write to', () => {
    mkdirSync(ofUser, { recursive: true })
    chmodSync(ofUser, 0o777)
    expect(cacheDirectory()).toBe(path.join(home, 'tmp', `svc-${process.getuid?.()}`))
  })

  test('nowhere, when none can be created: the error names each', () => {
    for (const name of ['cache', 'tmp']) writeFileSync(path.join(home, name), 'a file')
    expect(cacheDirectory).toThrow(/no directory can hold cached files: .*cache\/svc.*tmp\/svc-/)
  })
})
