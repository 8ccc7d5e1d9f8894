// The settings of `svc config set` for all commands of a user: the relay and its CA, in `settings.json` beside the
// identity file.

import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isRecord, SvcError } from '@svc/sdk-core'
import { noOption } from '@svc/sdk-core/option-names'
import { readPrivateFile, replacePrivateFile } from '../../identity/private-file.ts'
import { PageSettingsFile } from '../../inspector/page-settings.ts'
import { settingsFolder } from '../options/command-line.ts'
import { readPem } from '../options/pem-file.ts'
import { wordsOf } from '../options/word-list.ts'

/** The settings, by their keys. */
export interface UserSettings {
  /** The URLs of the relays. */
  relay?: string[] | undefined
  /** The path of the PEM file of their CA. */
  ca?: string | undefined
}

export type SettingKey = keyof UserSettings

const KEYS: readonly SettingKey[] = ['relay', 'ca']

/** @throws SvcError `invalid_option` that says what is wrong with the file */
export async function readUserSettings(env: NodeJS.ProcessEnv): Promise<UserSettings> {
  const path = pathOf(env)
  const text = await readPrivateFile(path, 'invalid_option').catch((error) => {
    if (error.code === 'ENOENT') return '{}'
    throw error instanceof SvcError
      ? error
      : new SvcError('invalid_option', `${path} cannot be read`, { cause: error })
  })
  const settings = parse(text)
  if (settings === undefined)
    throw new SvcError('invalid_option', `${path} is invalid: remove it, and set its values again`)
  return settings
}

/**
 * Stores a setting atomically. A path is made absolute, because commands may run in other folders.
 * @returns the stored value
 * @throws SvcError `invalid_option`
 */
export async function setSetting(
  env: NodeJS.ProcessEnv,
  text: string,
  values: readonly string[],
): Promise<UserSettings[SettingKey]> {
  const key = keyOf(text)
  const value = key === 'relay' ? relaysOf(values) : await authorityOf(values)
  await write(env, { ...(await readUserSettings(env)), [key]: value })
  return value
}

/** @throws SvcError `invalid_option` */
export async function unsetSetting(env: NodeJS.ProcessEnv, text: string): Promise<void> {
  const key = keyOf(text)
  await write(env, { ...(await readUserSettings(env)), [key]: undefined })
}

/** @throws SvcError `invalid_option` when there is no such key, or it is not set */
export async function settingOf(env: NodeJS.ProcessEnv, text: string): Promise<string | string[]> {
  const key = keyOf(text)
  const value = (await readUserSettings(env))[key]
  if (value === undefined) throw new SvcError('invalid_option', `${key} is not set: svc config set ${key}`)
  return value
}

/**
 * Fills in what the command line, a file and the environment leave out. The CA is used only with the remembered relays,
 * not with others.
 */
export function withRemembered<T extends { relay: string[]; ca?: string | undefined }>(
  options: T,
  { relay: remembered, ca }: UserSettings,
): T {
  const relay = options.relay.length > 0 ? options.relay : (remembered ?? [])
  const origins = remembered?.map(originOf)
  const isTheirs = origins === undefined || relay.every((url) => origins.includes(originOf(url)))
  return { ...options, relay, ...(options.ca === undefined && isTheirs && ca !== undefined && { ca }) }
}

/** Returns what keeps the settings of the inspector's page, in a file beside these. */
export function pageSettings(env: NodeJS.ProcessEnv): PageSettingsFile {
  return new PageSettingsFile(join(settingsFolder(env), 'inspector.json'))
}

function pathOf(env: NodeJS.ProcessEnv): string {
  return join(settingsFolder(env), 'settings.json')
}

/** @returns undefined when `svc config` did not write it */
function parse(text: string): UserSettings | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  if (!isRecord(value)) return undefined
  const { relay, ca } = value
  if (relay !== undefined && !isTexts(relay)) return undefined
  if (ca !== undefined && typeof ca !== 'string') return undefined
  return { relay, ca }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

async function write(env: NodeJS.ProcessEnv, settings: UserSettings): Promise<void> {
  const path = pathOf(env)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await replacePrivateFile(path, `${JSON.stringify(settings, undefined, 2)}\n`)
}

function keyOf(text: string): SettingKey {
  const key = KEYS.find((known) => known === text)
  if (key === undefined)
    throw new SvcError('invalid_option', `${noOption(text, KEYS)} (svc config has ${KEYS.join(' and ')})`)
  return key
}

function relaysOf(values: readonly string[]): string[] {
  const urls = values.flatMap(wordsOf)
  const wrong = urls.find((url) => URL.parse(url)?.protocol !== 'https:')
  if (wrong !== undefined) throw new SvcError('invalid_option', `relay ${wrong} is not an https: URL`)
  return urls
}

async function authorityOf(values: readonly string[]): Promise<string> {
  const [path = ''] = values
  if (values.length > 1) throw new SvcError('invalid_option', 'ca is one file')
  await readPem('ca', path)
  return resolve(path)
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url
}
