// Describes an application for the proof: how the run installs and starts the real software, and what a visitor of its site must find.
import type { Visitor } from './visitor.ts'

export interface Application {
  name: string
  /** Names what the run checks, for its output. */
  checks: string
  /** Names the setting that its owner has to change for the tunnel. @default none: its defaults work */
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
  check(visitor: Visitor, folder: string): Promise<void>
}

/** Software that cannot be had here. */
export class Unavailable extends Error {}
