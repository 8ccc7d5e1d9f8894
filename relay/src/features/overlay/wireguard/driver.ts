// The interface of a driver, which makes WireGuard interfaces: the kernel, or a program in user space.

/** An interface that a driver has made. It has no key, no address and no peers yet. */
export interface OverlayLink {
  /** Resolves with the cause when the interface has gone; never rejects. Some drivers cannot tell. */
  readonly ended: Promise<string>
  /** Removes the interface. Never rejects. */
  close(): Promise<void>
}

/** One way to make WireGuard interfaces. */
export interface OverlayDriver {
  readonly name: string
  /** Returns whether this machine has the driver. Makes no lasting change. */
  isAvailable(): Promise<boolean>
  /** The reason why an available driver cannot make an interface here; undefined when none is known. */
  obstacle?(): Promise<string | undefined>
  /**
   * Makes an interface, and first removes one of this name that an earlier process of this relay left.
   * @throws Error when the system refuses
   */
  open(interfaceName: string): Promise<OverlayLink>
}
