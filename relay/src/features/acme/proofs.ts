// Provers prove names to an ACME authority: there is one for each type of challenge.

/** Shows the proof of a name, and removes it again. */
export interface Prover {
  /** Type of the challenge (RFC 8555 §9.7.8). */
  readonly type: 'dns-01' | 'tls-alpn-01'
  /**
   * Resolves when the authority may check the proof.
   * @param name without `*.`
   * @param keyAuthorization as the library returns it: with `dns-01` the value of the record
   * @returns a function that removes the proof; it never rejects
   * @throws AcmeError, or the signal's reason
   */
  show(name: string, keyAuthorization: string, signal: AbortSignal): Promise<() => Promise<void>>
}
