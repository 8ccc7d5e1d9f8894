// Goes around handlers that may be recorded later: until then, a request costs one look at a field.

import { DIRECT, type DirectlyHandled } from '@svc/sdk-core'
import type { Inspector } from '@svc/sdk-core/inspector'

type Wrapping = NonNullable<Parameters<Inspector['wrap']>[1]>

interface Slot {
  wrapping: Wrapping
  handler: DirectlyHandled
  /** The handler with the inspector around it, once there is one. */
  recorded: DirectlyHandled | undefined
}

export class InspectorSwitch {
  readonly #slots = new Map<string | undefined, Slot>()
  #inspector: Inspector | undefined

  wrap(handler: DirectlyHandled, wrapping: Wrapping = {}): DirectlyHandled {
    const { tunnel } = wrapping
    const slot: Slot = { wrapping, handler, recorded: undefined }
    this.#slots.set(tunnel, slot)
    if (this.#inspector) slot.recorded = this.#inspector.wrap(handler, wrapping)
    const switched: DirectlyHandled = (request, info) => (slot.recorded ?? handler)(request, info, info)
    const direct = handler[DIRECT]
    if (direct) switched[DIRECT] = (request) => (slot.recorded?.[DIRECT] ?? direct)(request)
    return switched
  }

  /** Records from now on. */
  use(inspector: Inspector): void {
    this.#inspector = inspector
    for (const slot of this.#slots.values()) slot.recorded ??= inspector.wrap(slot.handler, slot.wrapping)
  }
}
