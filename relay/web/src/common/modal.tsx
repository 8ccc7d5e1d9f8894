// Shows a modal dialog. The browser keeps the focus in it, closes it on Escape and restores the focus.
import { type ComponentChildren, useEffect, useRef, type VNode } from '../preact.ts'

interface ModalProps {
  title: string
  /** Called when the dialog closes, for any reason. */
  onClose(): void
  children: ComponentChildren
}

export function Modal({ title, onClose, children }: ModalProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    const opened = dialog.current
    return () => opened?.close()
  }, [])
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}
