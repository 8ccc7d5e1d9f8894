// The inspector of a process: it records tunnels that ask for it from their start, and others once the owner wants to look.

import { readFile } from 'node:fs/promises'
import { SvcError } from '@svc/sdk-core'
import type { Inspection } from '@svc/sdk-core/inspector'
import type { Descriptors } from '@svc/sdk-core/protobuf'
import type { ExposeOptions } from '../../expose/options.ts'
import type { InspectorServer } from '../../inspector/inspector-server.ts'
import { InspectorSwitch } from '../../inspector/inspector-switch.ts'
import type { PageSettingsStore } from '../../inspector/page-settings.ts'

export class ProcessInspector {
  /** For tunnels that are recorded once the owner wants to look. */
  readonly #switch: InspectorSwitch | undefined
  readonly #settings: PageSettingsStore | undefined
  readonly #failed: (error: unknown) => void
  #inspection: Promise<Inspection> | undefined
  #loaded: Inspection | undefined
  #starting: Promise<InspectorServer> | undefined
  #server: InspectorServer | undefined

  /**
   * @param isSwitchable whether the owner may ask later
   * @param failed called with an unexpected error
   * @param settings keeps what a person chose for the page
   */
  constructor(isSwitchable: boolean, failed: (error: unknown) => void, settings?: PageSettingsStore) {
    this.#settings = settings
    if (isSwitchable) this.#switch = new InspectorSwitch()
    this.#failed = failed
  }

  /**
   * Resolves with what goes around the handler of a tunnel.
   * @param isWanted whether it is recorded from its start
   * @param proto the file of the types of its protobuf
   * @throws SvcError `invalid_option`
   */
  async of(isWanted: boolean, proto?: string): Promise<ExposeOptions['inspector']> {
    const inspector = isWanted ? (await this.#load()).inspector : undefined
    if (!inspector && !this.#switch) {
      if (proto === undefined) return undefined
      throw new SvcError('invalid_option', '--proto is for --inspect: without it nothing is recorded')
    }
    const descriptors = proto === undefined ? undefined : await readDescriptors(proto)
    return {
      wrap: (handler, given) => {
        const wrapping = { ...given, descriptors }
        return this.#switch?.wrap(handler, wrapping, inspector) ?? inspector!.wrap(handler, wrapping)
      },
    }
  }

  /** Records a tunnel from now on, or not any more. */
  async record(tunnel: string | undefined, isOn: boolean): Promise<void> {
    this.#switch?.useFor(tunnel, isOn ? (await this.#load()).inspector : undefined)
  }

  /** @returns undefined for a tunnel that has not started, or whose requests are not seen */
  isRecorded(tunnel: string | undefined): boolean | undefined {
    return this.#switch?.isRecorded(tunnel)
  }

  /** The operations of the inspector. Undefined while nothing is recorded. */
  get inspection(): Inspection | undefined {
    return this.#loaded
  }

  /** Starts the server. */
  async start(): Promise<void> {
    await this.#open()
  }

  /** Records all tunnels, and resolves with the address of the page, which signs in once, within a minute. */
  async look(): Promise<string> {
    const { inspector } = await this.#load()
    this.#switch?.use(inspector)
    return (await this.#open()).ticket().url
  }

  /** The address of the page, which signs in once, within a minute. Undefined while there is no server. */
  get url(): string | undefined {
    return this.#server?.ticket().url
  }

  async close(): Promise<void> {
    const server = await this.#starting?.catch(() => undefined)
    await server?.close()
  }

  #load(): Promise<Inspection> {
    this.#inspection ??= import('../../inspector/inspector-server.ts').then(({ newInspection }) => {
      this.#loaded = newInspection()
      return this.#loaded
    })
    return this.#inspection
  }

  #open(): Promise<InspectorServer> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<InspectorServer> {
    const { startInspectorServer } = await import('../../inspector/inspector-server.ts')
    const { pageAnswer } = await import('../../agent/page.ts')
    const page = (path: string): ReturnType<typeof pageAnswer> => pageAnswer(path, 'inspector')
    const inspection = await this.#load()
    this.#server = await startInspectorServer(inspection, this.#failed, page, this.#settings)
    return this.#server
  }
}

/** @throws SvcError `invalid_option` that names the file */
async function readDescriptors(path: string): Promise<Descriptors> {
  const set = await readFile(path).catch((cause) => {
    throw new SvcError('invalid_option', `--proto ${path} cannot be read`, { cause })
  })
  const { Descriptors } = await import('@svc/sdk-core/protobuf')
  try {
    return Descriptors.read(set)
  } catch (cause) {
    throw new SvcError('invalid_option', `--proto ${path}: ${(cause as Error).message}`, { cause })
  }
}
