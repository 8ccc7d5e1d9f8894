// Exports Preact to all pages: the only importer of it, except for compiled JSX.

export { type ComponentChildren, render, type VNode } from 'preact'
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
