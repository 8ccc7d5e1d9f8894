// Shows the settings of the policy in a form.
import type { ApprovalMode, PolicyPortSettings, PolicySettings } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { CONFIRM, SECTIONS, SETTINGS } from '../texts/admin.ts'
import { AdministratorsCard } from './administrators-card.tsx'
import { type ChangeRequest, settingsChange } from './change-request.ts'
import type { PageProps } from './page-props.ts'

const MODES: readonly ApprovalMode[] = ['auto', 'manual', 'token']

export function SettingsPage({ view, act, refresh }: PageProps<'administrators'>): VNode {
  return (
    <>
      <h1>{SECTIONS.settings}</h1>
      <SettingsCard policy={view.policy} act={act} />
      <AdministratorsCard administrators={view.administrators} refresh={refresh} />
    </>
  )
}

interface SettingsCardProps {
  policy: PolicySettings
  act(change: ChangeRequest): Promise<boolean>
}

function SettingsCard({ policy, act }: SettingsCardProps): VNode {
  // Without a draft, the form shows the current settings, even after another administrator changed them.
  const [draft, setDraft] = useState<PolicySettings | undefined>(undefined)
  const shown = draft ?? policy
  const edit = (change: Partial<PolicySettings>): void => setDraft({ ...shown, ...change })
  const leave = (): void => setDraft(undefined)
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const { approval_mode: mode } = shown
    const isStricter = mode !== 'auto' && policy.approval_mode !== mode
    // Reserved names have a form of their own, which another administrator may have used since.
    const settings = { ...shown, reserved_names: policy.reserved_names }
    if (await act(settingsChange(settings, policy, isStricter ? CONFIRM[mode] : undefined))) leave()
  }
  return (
    <section class="card" aria-labelledby="settings-heading">
      <h2 id="settings-heading">{SETTINGS.title}</h2>
      <form class="settings" onSubmit={save}>
        <Mode shown={shown} edit={edit} />
        <Landing shown={shown} edit={edit} />
        <Ports
          name={SETTINGS.udp}
          max={SETTINGS.udpMax}
          gate="UDP_ENABLED"
          ports={shown.udp}
          edit={(udp) => edit({ udp })}
        />
        <Ports
          name={SETTINGS.tcp}
          max={SETTINGS.tcpMax}
          gate="TCP_ENABLED"
          ports={shown.tcp_port}
          edit={(tcp_port) => edit({ tcp_port })}
        />
        <div class="row end">
          <button type="button" class="plain" disabled={draft === undefined} onClick={leave}>
            {SETTINGS.reset}
          </button>
          <button type="submit" disabled={draft === undefined}>
            {SETTINGS.save}
          </button>
        </div>
      </form>
    </section>
  )
}

interface FieldProps {
  shown: PolicySettings
  edit(change: Partial<PolicySettings>): void
}

function Mode({ shown, edit }: FieldProps): VNode {
  return (
    <fieldset>
      <legend>{SETTINGS.mode}</legend>
      {MODES.map((mode) => (
        <label key={mode} class="kind">
          <input
            type="radio"
            name="mode"
            checked={shown.approval_mode === mode}
            onChange={() => edit({ approval_mode: mode })}
          />
          <span>
            <strong>{SETTINGS.modes[mode].name}</strong>
            <span class="quiet">{SETTINGS.modes[mode].about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function Landing({ shown, edit }: FieldProps): VNode {
  return (
    <label class="kind">
      <input
        type="checkbox"
        checked={shown.landing_page_enabled}
        onChange={() => edit({ landing_page_enabled: !shown.landing_page_enabled })}
      />
      <span>
        <strong>{SETTINGS.landing}</strong>
        <span class="quiet">{SETTINGS.landingAbout}</span>
      </span>
    </label>
  )
}

interface PortsProps {
  name: string
  max: string
  /** Environment variable that allows such ports. */
  gate: string
  ports: PolicyPortSettings
  edit(ports: PolicyPortSettings): void
}

function Ports({ name, max, gate, ports, edit }: PortsProps): VNode {
  return (
    <div class="ports">
      <label class="kind">
        <input
          type="checkbox"
          checked={ports.enabled}
          onChange={() => edit({ ...ports, enabled: !ports.enabled })}
        />
        <span>
          <strong>{name}</strong>
          <span class="quiet">{SETTINGS.gates(gate)}</span>
        </span>
      </label>
      <label>
        {max}
        <input
          type="number"
          required
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          value={ports.max_leases}
          onInput={(event) => edit({ ...ports, max_leases: event.currentTarget.valueAsNumber || 0 })}
        />
      </label>
    </div>
  )
}
