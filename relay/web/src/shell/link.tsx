// A link to another page of the relay. With a modifier key the browser handles it as usual.
import type { ComponentChildren, VNode } from '../preact.ts'
import { navigate } from './routes.ts'

interface LinkProps {
  to: string
  children: ComponentChildren
  isCurrent?: boolean
  /** What screen readers say, where the text says less than the place around it. */
  label?: string
  /** Called when it is followed on this page, also to where the page is. */
  onFollow?: () => void
}

export function Link({ to, children, isCurrent = false, label, onFollow }: LinkProps): VNode {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
    onFollow?.()
  }
  return (
    <a
      href={to}
      onClick={follow}
      {...(label !== undefined && { 'aria-label': label })}
      {...(isCurrent && { 'aria-current': 'page' as const })}
    >
      {children}
    </a>
  )
}
