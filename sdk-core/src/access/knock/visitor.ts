// Who knocks, as the owner sees it.

/** A KnockingVisitor waits until the owner of the site answers. */
export interface KnockingVisitor {
  /** Four digits that the visitor sees too, so that the owner can tell visitors apart. No two who wait have the same. */
  readonly code: string
  /** The address, by the relay's word. Undefined when it is not known. */
  readonly address: string | undefined
  /** The browser or program and its system, such as `Firefox on Android`: the visitor's own word. */
  readonly browser: string
  /** The path that the visitor asked for, without its query, shortened and percent-encoded. */
  readonly path: string
  /** When it knocked, in milliseconds since the epoch. */
  readonly since: number
  /** Aborted when the visitor does not wait any more: it was answered, it left, another of its network took its place, or its time is over. */
  readonly ended: AbortSignal
  /** Lets the visitor's browser in for 24 hours, or, with `always`, for as long as the site runs. */
  admit(options?: { always?: boolean | undefined }): void
  /** Refuses the visitor this time, or, with `always`, its browser and its network for as long as the site runs. */
  refuse(options?: { always?: boolean | undefined }): void
}

/** A KnockEvent says that a visitor waits at a site with `access.knock`. */
export class KnockEvent extends Event {
  readonly visitor: KnockingVisitor

  constructor(visitor: KnockingVisitor) {
    super('knock')
    this.visitor = visitor
  }
}
