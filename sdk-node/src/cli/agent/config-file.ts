// svc.toml as the agent reads and changes it: atomically, and never overwriting another edit.

import { createHash, randomUUID } from 'node:crypto'
import { access, constants, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { SvcError } from '@svc/sdk-core'
import { AgentError } from '../../agent/errors.ts'
import { EditError } from '../config/edit-toml.ts'
import { type Config, type ConfigContext, parseConfig, readConfigText } from '../config/read-config.ts'
import { parseToml, type TomlTable } from '../config/toml.ts'

const MODE_BITS = 0o7777
/** The permission bits for writing. */
const WRITABLE = 0o222

export class ConfigFile {
  readonly path: string
  readonly #context: ConfigContext
  /** The SHA-256 of the last read or written text. */
  #known: string | undefined

  constructor(path: string, context: ConfigContext) {
    this.path = resolve(path)
    this.#context = context
  }

  /** @throws SvcError `invalid_option` that says where the file is wrong, by line or by field */
  async load(): Promise<Config> {
    const text = await readConfigText(this.path)
    const config = await parseConfig(this.path, text, this.#context)
    this.#known = hashOf(text)
    return config
  }

  /** @returns the fields as written in the file, without defaults */
  async fields(): Promise<TomlTable> {
    return parseToml(await this.#unchangedText())
  }

  /**
   * Changes the file.
   * @param edit returns the new text
   * @throws AgentError `config_changed` when the file was edited meanwhile, `invalid_request` when the result would be
   *   wrong, `config_unusable` when it cannot be changed or written. The file is then unchanged
   */
  async change(edit: (text: string, fields: TomlTable) => string): Promise<Config> {
    const text = await this.#unchangedText()
    const next = edited(edit, text)
    const config = await this.#parse(next)
    if (next !== text) await this.#replace(next)
    this.#known = hashOf(next)
    return config
  }

  async #unchangedText(): Promise<string> {
    const text = await readConfigText(this.path).catch((cause) => {
      throw new AgentError('config_unusable', cause.message, cause)
    })
    if (hashOf(text) !== this.#known) throw changed(this.path)
    return text
  }

  async #parse(text: string): Promise<Config> {
    try {
      return await parseConfig(this.path, text, this.#context)
    } catch (cause) {
      if (cause instanceof SvcError) throw new AgentError('invalid_request', cause.message, cause)
      throw cause
    }
  }

  /** Writes a temporary file, syncs it to the disk, and renames it into place. */
  async #replace(text: string): Promise<void> {
    let draft: string | undefined
    try {
      // Keeps a symbolic link.
      const target = await realpath(this.path)
      const { mode, uid, gid } = await stat(target)
      // A rename would replace even a read-only file, and root may write any.
      if ((mode & WRITABLE) === 0) throw new AgentError('config_unusable', `${this.path} is read-only`)
      await access(target, constants.W_OK)
      draft = `${target}.${randomUUID()}`
      const file = await open(draft, 'wx', mode & MODE_BITS)
      try {
        const made = await file.stat()
        if (made.uid !== uid || made.gid !== gid) await file.chown(uid, gid)
        await file.chmod(mode & MODE_BITS)
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      if (hashOf(await readFile(target, 'utf8')) !== this.#known) throw changed(this.path)
      await rename(draft, target)
      draft = undefined
      await syncDirectory(dirname(target))
    } catch (cause) {
      if (draft !== undefined) await unlink(draft).catch(() => {})
      if (cause instanceof AgentError) throw cause
      const { code } = cause as NodeJS.ErrnoException
      throw new AgentError('config_unusable', `${this.path} cannot be written (${code})`, cause)
    }
  }
}

function edited(edit: (text: string, fields: TomlTable) => string, text: string): string {
  try {
    return edit(text, parseToml(text))
  } catch (cause) {
    if (cause instanceof EditError)
      throw new AgentError('config_unusable', `${cause.message}: change it by hand`, cause)
    throw cause
  }
}

/** Syncs a directory; Windows has no such operation. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  await directory.sync().finally(() => directory.close())
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function changed(path: string): AgentError {
  return new AgentError(
    'config_changed',
    `${path} was edited after the agent read it and was not changed: reload it first`,
  )
}
