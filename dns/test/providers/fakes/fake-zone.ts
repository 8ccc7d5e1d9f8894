// The zone that a provider's stand-in serves: its records, and what somebody else does to them.
export interface FakeRecord {
  /** A number. */
  id: string
  /** Absolute, without a trailing dot. */
  name: string
  type: string
  /** As zone files have it: texts are quoted. */
  data: string
  ttl: number
}

export class FakeZone {
  name: string
  records: FakeRecord[] = []
  #made = 0
  /** As the provider calls it. */
  dnssec = 'off'
  /** Called after each change by a request, with the records before it. */
  onChange: ((before: readonly FakeRecord[]) => Promise<void>) | undefined

  constructor(name: string) {
    this.name = name
  }

  add(name: string, type: string, data: string, ttl = 300): FakeRecord {
    const record = { id: `${++this.#made}`, name, type, data, ttl }
    this.records.push(record)
    return record
  }

  remove(gone: readonly FakeRecord[]): void {
    this.records = this.records.filter((record) => !gone.includes(record))
  }

  of(name: string, type: string): FakeRecord[] {
    return this.records.filter((record) => record.name === name && record.type === type)
  }

  /** Data of the records of a name and type, in an order of their own. */
  data(name: string, type: string): string[] {
    return this.of(name, type)
      .map(({ data }) => data)
      .sort()
  }

  absolute(relative: string): string {
    return relative === '' || relative === '@' ? this.name : `${relative}.${this.name}`
  }

  relative(name: string, apex: string): string {
    return name === this.name ? apex : name.slice(0, -this.name.length - 1)
  }
}
