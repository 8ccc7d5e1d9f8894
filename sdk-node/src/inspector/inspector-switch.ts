// Goes around handlers that may be recorded later: until then, a request costs one look at a field.

import { DIRECT, type DirectlyHandled } from '@svc/sdk-core'
import type { Inspector } from '@svc/sdk-core/inspector'

type Wrapping = NonNullable<Parameters<Inspector['wrap']>[1]>

interface Slot {
  wrapping: Wrapping
  handler: DirectlyHandled
  /** The handler with the inspector around it, while it is recorded. */
  recorded: DirectlyHandled | undefined
}

export class InspectorSwitch {
  readonly #slots = new Map<string | undefined, Slot>()
  /** The inspector of all tunnels. */
  #all: Inspector | undefined
  /** The inspectors of single ones, also when they start again. */
  readonly #single = new Map<string | undefined, Inspector>()

  /** @param inspector records from the start */
  wrap(handler: DirectlyHandled, wrapping: Wrapping = {}, inspector?: Inspector): DirectlyHandled {
    const { tunnel } = wrapping
    const slot: Slot = { wrapping, handler, recorded: undefined }
    this.#slots.set(tunnel, slot)
    record(slot, inspector ?? this.#single.get(tunnel) ?? this.#all)
    const switched: DirectlyHandled = (request, info) => (slot.recorded ?? handler)(request, info, info)
    const direct = handler[DIRECT]
    if (direct) switched[DIRECT] = (request) => (slot.recorded?.[DIRECT] ?? direct)(request)
    return switched
  }

  /** Records all tunnels from now on. */
  use(inspector: Inspector): void {
    this.#all = inspector
    for (const slot of this.#slots.values()) record(slot, inspector)
  }

  /** Records one tunnel from now on. @param inspector undefined to end it, until the tunnel starts again */
  useFor(tunnel: string | undefined, inspector: Inspector | undefined): void {
    if (inspector) this.#single.set(tunnel, inspector)
    else this.#single.delete(tunnel)
    const slot = this.#slots.get(tunnel)
    if (slot && inspector) record(slot, inspector)
    else if (slot) slot.recorded = undefined
  }

  /** @returns undefined when no handler of such a tunnel is wrapped */
  isRecorded(tunnel: string | undefined): boolean | undefined {
    const slot = this.#slots.get(tunnel)
    return slot && slot.recorded !== undefined
  }
}

function record(slot: Slot, inspector: Inspector | undefined): void {
  slot.recorded ??= inspector?.wrap(slot.handler, slot.wrapping)
}
