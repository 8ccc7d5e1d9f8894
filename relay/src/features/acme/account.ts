// The relay's account at an ACME authority: its key in acme-account.key, its URL in acme-registration.json.

import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { untilAborted } from '@svc/protocol/timers'
import { ACCOUNT_KEY_FILE, REGISTRATION_FILE } from '../../core/certificates/managed-files.ts'
import { SettingsError } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'
import { readIfPresent, readPrivateIfPresent, writePrivate } from '../../core/storage/state-file.ts'
import { AcmeClient, type Exchange, exchange } from './client.ts'
import type { OrderSharing } from './order-sharing.ts'
import { AcmeProblem } from './problem.ts'
import type { AcmeSettings } from './settings.ts'
import type { AcmeTransport } from './transport.ts'

export interface AccountParts {
  /** Directory of the state files. */
  directory: string
  settings: Pick<AcmeSettings, 'directory' | 'email' | 'externalAccount'>
  transport: AcmeTransport
  /**
   * Aborts when the relay closes. All waiting orders share one account creation, so that no single order can cancel it.
   */
  closing: AbortSignal
  /** The other machines, which use the same account; undefined on a single machine. */
  sharing?: OrderSharing | undefined
  log: Logger
}

/** Content of the registration file. */
interface Registration {
  /** URL of the ACME directory. */
  directory: string
  /** URL of the account there. */
  account: string
}

const NO_ACCOUNT = 'accountDoesNotExist'
const FILES: readonly string[] = [ACCOUNT_KEY_FILE, REGISTRATION_FILE]

export class AcmeAccount {
  readonly #parts: AccountParts
  #key: string | undefined
  #account: string | undefined
  /** The account that the authority has lost. */
  #lostAccount: string | undefined
  #client: Promise<AcmeClient> | undefined

  /** @throws SettingsError when the key cannot be used */
  static async open(parts: AccountParts): Promise<AcmeAccount> {
    const { directory, settings, log } = parts
    const key = await readPrivateIfPresent(join(directory, ACCOUNT_KEY_FILE))
    const registration = parse(await readIfPresent(join(directory, REGISTRATION_FILE)))
    if (key !== undefined) requireKey(key)
    else if (registration !== undefined)
      log.warn(`${ACCOUNT_KEY_FILE} is missing: the relay makes a new account at the ACME authority`)
    const isKnown = key !== undefined && registration?.directory === settings.directory
    return new AcmeAccount(parts, key, isKnown ? registration?.account : undefined)
  }

  private constructor(parts: AccountParts, key: string | undefined, account: string | undefined) {
    this.#parts = parts
    this.#key = key
    this.#account = account
  }

  /**
   * Calls the authority as this account. Creates the account first if there is none or the authority has lost it.
   * @throws AcmeProblem, AcmeError, StateFileError, or the signal's reason
   */
  async use<T>(with_: Exchange, call: (client: AcmeClient) => Promise<T>): Promise<T> {
    const ready = this.#ready()
    const client = await untilAborted(ready, with_.signal)
    try {
      return await exchange(with_, () => call(client))
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type !== NO_ACCOUNT) throw error
      this.#lost(ready)
      const next = await untilAborted(this.#ready(), with_.signal)
      return await exchange(with_, () => call(next))
    }
  }

  /** Resolves when no account creation is under way. */
  async settled(): Promise<void> {
    await this.#client?.catch(() => {})
  }

  /** When several orders get this error, only the first one starts a new account. */
  #lost(client: Promise<AcmeClient>): void {
    if (this.#client !== client) return
    this.#parts.log.warn('the ACME authority does not know the account any more: the relay makes a new one')
    this.#lostAccount = this.#account
    this.#account = undefined
    this.#client = undefined
  }

  #ready(): Promise<AcmeClient> {
    const ready = this.#client ?? this.#make()
    this.#client = ready
    ready.catch(() => {
      // The next call tries again.
      if (this.#client === ready) this.#client = undefined
    })
    return ready
  }

  /** One machine creates the account, and the others use it. */
  async #make(): Promise<AcmeClient> {
    const { sharing, closing } = this.#parts
    if (sharing === undefined || this.#account !== undefined) return await this.#register()
    return await sharing.alone('acme-account', closing, async () => {
      await sharing.refresh(FILES)
      await this.#read()
      const client = await this.#register()
      await sharing.publish(FILES)
      return client
    })
  }

  async #read(): Promise<void> {
    const { directory, settings } = this.#parts
    const key = await readPrivateIfPresent(join(directory, ACCOUNT_KEY_FILE))
    const registration = parse(await readIfPresent(join(directory, REGISTRATION_FILE)))
    if (key === undefined) return
    this.#key = key
    const isKnown =
      registration?.directory === settings.directory && registration.account !== this.#lostAccount
    if (isKnown) this.#account = registration.account
  }

  async #register(): Promise<AcmeClient> {
    const { directory, settings, transport, closing, log } = this.#parts
    this.#key ??= await createKey(join(directory, ACCOUNT_KEY_FILE))
    const options = { directoryUrl: settings.directory, accountKey: this.#key }
    if (this.#account !== undefined) return new AcmeClient({ ...options, accountUrl: this.#account })
    const { externalAccount } = settings
    const client = new AcmeClient({
      ...options,
      ...(externalAccount && {
        externalAccountBinding: { kid: externalAccount.keyId, hmacKey: externalAccount.hmacKey },
      }),
    })
    const contact = settings.email === undefined ? {} : { contact: [`mailto:${settings.email}`] }
    const own = { transport, signal: closing }
    await exchange(own, () => client.createAccount({ termsOfServiceAgreed: true, ...contact }))
    const registration: Registration = { directory: settings.directory, account: client.getAccountUrl() }
    await writePrivate(join(directory, REGISTRATION_FILE), `${JSON.stringify(registration)}\n`)
    this.#account = registration.account
    log.info({ account: registration.account }, 'account made at the ACME authority')
    return client
  }
}

/** @returns the key in the file afterwards: when two relays start at once, only one of them creates it */
async function createKey(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const own = `${path}.${process.pid}.svc-tmp`
  try {
    await writePrivate(own, key)
    await link(own, path)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readPrivateIfPresent(path)) ?? key
  } finally {
    await rm(own, { force: true })
  }
}

function requireKey(pem: string): void {
  try {
    createPrivateKey(pem)
  } catch {
    throw new SettingsError(ACCOUNT_KEY_FILE, 'is not PEM: move it away, and the relay makes a new account')
  }
}

/** @returns undefined for a file that is missing or damaged: the authority finds the account by its key */
function parse(text: string | undefined): Registration | undefined {
  try {
    const { directory, account } = Object(JSON.parse(text ?? ''))
    return typeof directory === 'string' && typeof account === 'string' ? { directory, account } : undefined
  } catch {
    return undefined
  }
}
