// Loads the form of a tunnel when it is opened.

import { useState, type VNode } from '@svc/relay-web/preact.ts'
import type { TunnelForm } from './tunnel-form.tsx'

type FormProps = Omit<Parameters<typeof TunnelForm>[0], 'onClose'>

/** Returns the function that opens the form, and what shows it. */
export function useTunnelForm(): { open: () => void; show: (props: FormProps) => VNode | null } {
  const [form, setForm] = useState<{ TunnelForm: typeof TunnelForm } | undefined>(undefined)
  return {
    // The dashboard says when the agent does not answer.
    open: () => void import('./tunnel-form.tsx').then(setForm, () => {}),
    show: (props) => (form ? <form.TunnelForm {...props} onClose={() => setForm(undefined)} /> : null),
  }
}
