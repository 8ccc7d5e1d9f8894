// What the landing page has stored of its folder, for a reload.

/** Runs in the page. @returns the number of files that the browser has stored for a reload */
export async function keptFiles(): Promise<number> {
  const opening = indexedDB.open('svc-landing')
  await new Promise((resolve) => opening.addEventListener('success', resolve))
  const all = opening.result.transaction('files').objectStore('files').getAll()
  await new Promise((resolve) => all.addEventListener('success', resolve))
  opening.result.close()
  return all.result.reduce((sum, { files }) => sum + files.length, 0)
}
