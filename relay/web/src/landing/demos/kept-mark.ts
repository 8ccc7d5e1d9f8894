// Says whether some tab of this browser keeps files, so that a page which keeps none loads no code for that.

/** The key in the local storage. */
export const KEPT_FILES = 'svc-landing-files'
