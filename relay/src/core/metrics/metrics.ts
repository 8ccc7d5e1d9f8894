// Registers the relay's metrics by the conventions of Prometheus. Each is read when it is scraped; no label names a tenant.
// The only importer of prom-client.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

export interface LabeledCount<Label extends string> {
  labels: Readonly<Record<Label, string>>
  count: number
}

/** A part of the relay that registers metrics of its own. */
export interface Measured {
  metrics(metrics: Metrics): void
}

/** Names have no prefix here; scrapers see `svc_relay_` before each. */
export class Metrics {
  readonly #registry = new Registry()

  /** Registers those of the process and its event loop, under the names that dashboards know. */
  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...this.#named(name, help),
      collect() {
        this.set(read())
      },
    })
  }

  counter(name: string, help: string, read: () => number): void {
    new Counter({
      ...this.#named(name, help),
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  labeledGauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<LabeledCount<Label>>,
  ): void {
    new Gauge({
      ...this.#named(name, help),
      labelNames,
      collect() {
        this.reset()
        for (const { labels, count } of read()) this.set(labels, count)
      },
    })
  }

  labeledCounter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    counts: Iterable<LabeledCount<Label>>,
  ): void {
    new Counter({
      ...this.#named(name, help),
      labelNames,
      collect() {
        this.reset()
        for (const { labels, count } of counts) this.inc(labels, count)
      },
    })
  }

  /** A counter for each key of a record, which is the value of `label`. */
  recordCounter(
    name: string,
    help: string,
    label: string,
    read: () => Readonly<Record<string, number>>,
  ): void {
    new Counter({
      ...this.#named(name, help),
      labelNames: [label],
      collect() {
        this.reset()
        for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count)
      },
    })
  }

  #named(name: string, help: string): { name: string; help: string; registers: [Registry] } {
    return { name: `svc_relay_${name}`, help, registers: [this.#registry] }
  }
}
