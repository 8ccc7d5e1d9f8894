// The tunnels of one process, which can be added and removed while others run.

import { EventEmitter } from 'node:events'
import { SvcError } from '@svc/sdk-core'
import type { SiteCommand } from '../options/parsed-command.ts'
import { Tunnel, type TunnelContext, type TunnelEnd } from './tunnel.ts'

interface SupervisorEvents {
  /** A tunnel was added, or its state changed. */
  change: [tunnel: Tunnel]
  /** A tunnel was removed: it has ended and is no longer listed. */
  remove: [tunnel: Tunnel]
}

/**
 * A TunnelSupervisor runs tunnels independently: one that fails or ends does not affect the others. A tunnel that
 * has ended stays listed, with its failure, until it is removed.
 */
export class TunnelSupervisor extends EventEmitter<SupervisorEvents> {
  readonly #context: TunnelContext
  /** The tunnels by name; `undefined` for one whose name is derived from its identity. */
  readonly #tunnels = new Map<string | undefined, Tunnel>()
  #added = 0
  #isClosed = false

  constructor(context: TunnelContext) {
    super()
    this.#context = context
  }

  /**
   * Starts a tunnel without waiting for it: {@link Tunnel.ended} has the reason if it does not start.
   * @throws SvcError `invalid_option` when a tunnel of that name is listed, `aborted` after `close()`
   */
  add(command: SiteCommand): Tunnel {
    const { name } = command.options
    if (this.#isClosed) throw new SvcError('aborted', 'no tunnel can be added any more')
    if (this.#tunnels.has(name))
      throw new SvcError('invalid_option', `there is a tunnel ${name ?? 'without a name'} already`)
    const onChange = (changed: Tunnel): void => void this.emit('change', changed)
    const tunnel = new Tunnel(command, this.#added++, this.#context, onChange)
    this.#tunnels.set(name, tunnel)
    onChange(tunnel)
    return tunnel
  }

  /**
   * Ends a tunnel and removes it from the status store and the list. Its name is free again when this resolves.
   * @returns undefined when there is no tunnel of that name
   */
  async remove(name: string | undefined): Promise<TunnelEnd | undefined> {
    const tunnel = this.#tunnels.get(name)
    if (tunnel === undefined) return undefined
    const end = await tunnel.close()
    // Another call may have removed it meanwhile, and a new tunnel may have its name.
    if (this.#tunnels.get(name) === tunnel) {
      this.#tunnels.delete(name)
      tunnel.forget()
      this.emit('remove', tunnel)
    }
    return end
  }

  /** @returns the tunnels in the order in which they were added */
  list(): Tunnel[] {
    return [...this.#tunnels.values()]
  }

  /** Ends all tunnels, which stay listed, and accepts no more. Resolves when their leases are unregistered. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.list().map((tunnel) => tunnel.close()))
  }
}
