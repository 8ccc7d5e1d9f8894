// Shows the state of the DNS: the provider, DNSSEC, and the DS record, with instructions.
import { CopyableCode } from '../common/copyable-code.tsx'
import type { VNode } from '../preact.ts'
import { DNS, SECTIONS } from '../texts/admin.ts'
import type { PageProps } from './page-props.ts'

export function DnsPage({ view }: PageProps): VNode {
  const { ens } = view.relay
  const rows = [
    [DNS.provider, ens.provider],
    [DNS.dnssec, ens.dnssec_state],
    [DNS.ens, ens.enabled ? DNS.on(ens.address) : DNS.off],
    [DNS.lastError, ens.last_error],
  ] as const
  return (
    <>
      <h1>{SECTIONS.dns}</h1>
      <section class="card" aria-labelledby="dns-heading">
        <h2 id="dns-heading">{DNS.title}</h2>
        {ens.message !== '' && <p>{ens.message}</p>}
        {ens.ds_record !== '' && (
          <>
            <p class="quiet">{DNS.dsAbout}</p>
            <CopyableCode code={ens.ds_record} label={DNS.copyDs} />
          </>
        )}
        <dl class="fields">
          {rows.map(
            ([name, value]) =>
              value !== '' && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </section>
    </>
  )
}
