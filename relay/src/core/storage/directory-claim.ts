// Locks the state directory for one relay: two would overwrite each other's files.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SettingsError } from '../config/settings-error.ts'
import type { Logger } from '../log/log.ts'

/** Attempts to claim the state directory. Between two, the socket of a killed relay is removed. */
const CLAIM_ATTEMPTS_MAX = 3
/** Time for the relay that has the state directory to name its process. */
const CLAIM_ANSWER_MS = 2_000

/** A Unix socket, which the kernel closes with the process, however that ends. */
const CLAIM_FILE = 'relay.sock'
const DIRECTORY_MODE = 0o700
/** A path of a Unix socket may have 107 bytes (`sun_path` of unix(7)), and one that is moved aside has a number as well. */
const PATH_MAX_BYTES = 107 - 37

/** The directory is the relay's until `close` has resolved. */
export interface DirectoryClaim {
  close(): Promise<void>
}

/**
 * Workers of the relay claim nothing, nor do `check` and `healthcheck`.
 * @returns undefined, with a warning, when the file system has no Unix sockets
 * @throws SettingsError when another relay has the directory
 */
export async function claimDirectory(directory: string, log: Logger): Promise<DirectoryClaim | undefined> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  const path = join(directory, CLAIM_FILE)
  // A short path of the directory, valid while it is open.
  const handle = Buffer.byteLength(path) > PATH_MAX_BYTES ? await open(directory) : undefined
  try {
    const server = await claim(handle ? `/proc/self/fd/${handle.fd}/${CLAIM_FILE}` : path, directory)
    return {
      close: async () => {
        await new Promise((resolve) => server.close(resolve))
        await handle?.close()
      },
    }
  } catch (error) {
    await handle?.close()
    if (error instanceof SettingsError) throw error
    log.warn(
      { err: error },
      'a second relay at IDENTITY_PATH would not be noticed: no Unix socket can be made there',
    )
    return undefined
  }
}

/** @returns the process of the relay that has the directory now, or undefined */
export async function holderOfDirectory(directory: string): Promise<string | undefined> {
  const path = join(directory, CLAIM_FILE)
  const handle = Buffer.byteLength(path) > PATH_MAX_BYTES ? await open(directory) : undefined
  try {
    return await holderOf(handle ? `/proc/self/fd/${handle.fd}/${CLAIM_FILE}` : path)
  } finally {
    await handle?.close()
  }
}

/** @throws SettingsError when another relay has the directory, or the system's error */
async function claim(path: string, directory: string): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const server = createServer((client) => client.on('error', () => {}).end(`${process.pid}`))
    try {
      await once(server.listen(path), 'listening')
      // From now on, an error means that the system could not accept a connection.
      return server.unref().on('error', () => {})
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === CLAIM_ATTEMPTS_MAX)
        throw error
    }
    const holder = await holderOf(path)
    if (holder !== undefined) throw inUse(directory, holder)
    await removeLeft(path, directory)
  }
}

function inUse(directory: string, holder: string): SettingsError {
  return new SettingsError(
    'IDENTITY_PATH',
    `${directory} is in use: another relay runs there (process ${holder})`,
  )
}

/** @returns undefined when nobody listens: the relay was killed */
async function holderOf(path: string): Promise<string | undefined> {
  const socket = connect(path)
  // The relay may be stopped, or busy.
  socket.setTimeout(CLAIM_ANSWER_MS, () => socket.destroy(new Error('no answer')))
  try {
    await once(socket, 'connect')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ECONNREFUSED', 'ENOENT'].includes(code)) return undefined
    return 'unknown'
  }
  return await text(socket).catch(() => 'unknown')
}

/** If two relays remove it at once, one moves it away; the other may move a new one, which it puts back. */
async function removeLeft(path: string, directory: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
    const holder = await holderOf(aside)
    if (holder === undefined) return
    await link(aside, path)
    throw inUse(directory, holder)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    await rm(aside, { force: true })
  }
}
