// The policy that all machines have: one of them changes it at a time, and the others follow.

import type { Logger } from '../../log/log.ts'
import type { Policy, PolicySharing } from '../../policy/policy.ts'
import { type PolicyFile, parsePolicyFile } from '../../policy/policy-file.ts'
import { type Engine, EngineError, engineIsDown } from '../engine/engine.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { SET_POLICY } from '../engine/scripts.ts'
import { CHANGES_KEPT, POLICY_ATTEMPTS_MAX } from '../limits.ts'
import type { MachineLinks } from '../links/machine-links.ts'

interface SharedPolicyParts {
  run: string
  engine: Engine
  keys: EngineKeys
  policy: Policy
  links: () => Pick<MachineLinks, 'tellChangeBehind'> | undefined
  log: Logger
}

interface Versioned {
  version: number
  file: PolicyFile
}

export class SharedPolicy implements PolicySharing {
  readonly #parts: SharedPolicyParts
  /** Of the policy in use. */
  #version = 0

  constructor(parts: SharedPolicyParts) {
    this.#parts = parts
  }

  async change(edit: (file: PolicyFile) => PolicyFile): Promise<void> {
    const { policy } = this.#parts
    try {
      for (let attempt = 0; attempt < POLICY_ATTEMPTS_MAX; attempt++) {
        const { version, file } = (await this.#read()) ?? { version: 0, file: policy.file }
        if (await this.#set(version, edit(file))) return
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
    }
    throw engineIsDown()
  }

  /** Takes the engine's policy, or gives it the one that is here. @throws EngineError */
  async load(): Promise<void> {
    const known = await this.#read()
    if (known !== undefined && known.version >= this.#version) this.#use(known)
    // The engine has none, or an older one than before.
    else if (!(await this.#set(known?.version ?? 0, this.#parts.policy.file))) await this.load()
  }

  /** Follows a change that another machine made. */
  follow(entry: string): void {
    const changed = this.#parse(entry)
    if (changed !== undefined && changed.version > this.#version) this.#use(changed)
  }

  #use({ version, file }: Versioned): void {
    this.#version = version
    this.#parts.policy.follow(file)
  }

  async #read(): Promise<Versioned | undefined> {
    const entry = await this.#parts.engine.command('GET', this.#parts.keys.policy)
    return typeof entry === 'string' ? this.#parse(entry) : undefined
  }

  async #set(version: number, file: PolicyFile): Promise<boolean> {
    const { engine, keys, run, links } = this.#parts
    const json = JSON.stringify(file)
    const args = [version, json, CHANGES_KEPT, run, this.#version]
    const next = Number(await engine.run(SET_POLICY, [keys.policy, keys.changes], args))
    // A later version, which has this change too, may be in use by now.
    if (next > this.#version) {
      this.#version = next
      this.#parts.policy.apply(file)
    }
    if (next > 0) links()?.tellChangeBehind('policy', '', `${next} ${json}`)
    return next > 0
  }

  #parse(entry: string): Versioned | undefined {
    const space = entry.indexOf(' ')
    try {
      return { version: Number(entry.slice(0, space)), file: parsePolicyFile(entry.slice(space + 1)) }
    } catch (error) {
      this.#parts.log.error(
        { reason: (error as Error).message },
        'the policy of another machine cannot be read, and changes nothing here',
      )
      return undefined
    }
  }
}
