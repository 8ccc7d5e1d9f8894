// What an application is to the proof: real software, how it is had and started, and what a visitor of its site must find.
import type { Visitor } from './visitor.ts'

export interface Application {
  name: string
  /** What is checked, for the table. */
  checks: string
  /** What its owner has to set for the tunnel; nothing where its defaults do. */
  setting?: string
  /**
   * Installs it.
   * @param folder where it may write, kept from run to run
   * @returns its version
   * @throws Unavailable
   */
  install(folder: string): string
  /** The command that serves it at `port`. */
  start(folder: string, port: number): readonly string[]
  /** @throws Error that says what a visitor found in place of the right thing */
  check(visitor: Visitor): Promise<void>
}

/** Software that cannot be had here. */
export class Unavailable extends Error {}
