// The command that publishes from a machine, and, if the relay has downloads, the lines that install it.
import { hasDevelopmentCa } from '../common/authority.ts'
import { CopyableCode } from '../common/copyable-code.tsx'
import { hasDownloads } from '../common/offers.ts'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { LANDING } from '../texts/landing.ts'

/** The file name of the development CA that its page offers. */
const CA_FILE = 'svc-ca.pem'
const COMMAND = `svc expose 3000 --relay ${location.origin}${hasDevelopmentCa ? ` --ca ${CA_FILE}` : ''}`
const INSTALL_SH = hasDevelopmentCa
  ? `curl -fsSL --cacert ${CA_FILE} ${location.origin}/api/install.sh | SVC_CA=${CA_FILE} sh`
  : `curl -fsSL ${location.origin}/api/install.sh | sh`
const INSTALL_PS1 = `irm ${location.origin}/api/install.ps1 | iex`

export function ShellCode(): VNode {
  return (
    <>
      <p class="quiet">{LANDING.shellAbout}</p>
      <CopyableCode code={COMMAND} label={LANDING.copyCommand} />
      {hasDevelopmentCa && (
        <p class="quiet">
          {LANDING.ownAuthority(CA_FILE)} <Link to="/ca">{LANDING.toAuthority}</Link>.
        </p>
      )}
      <details>
        <summary>{LANDING.installTitle}</summary>
        <Installation />
      </details>
    </>
  )
}

/** The offers are known only later. The layout does not shift then, because this is shown when opened. */
function Installation(): VNode {
  const isOffered = useStore(hasDownloads)
  if (!isOffered) return <p class="quiet">{isOffered === false ? LANDING.noDownloads : ''}</p>
  return (
    <>
      <p class="quiet">{LANDING.installSh}</p>
      <CopyableCode code={INSTALL_SH} label={LANDING.copyInstallSh} />
      <p class="quiet">{hasDevelopmentCa ? LANDING.installPs1Trusted : LANDING.installPs1}</p>
      <CopyableCode code={INSTALL_PS1} label={LANDING.copyInstallPs1} />
    </>
  )
}
