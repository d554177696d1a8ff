import { pathSubject } from '../core/capability/folder-subjects.ts'
import type { Edges } from './edges.ts'

/** Whether a person trusts exactly this version of the file. */
export async function isFileTrusted(
  { store, machine = null }: Pick<Edges, 'store' | 'machine'>,
  { path, hash }: { readonly path: string; readonly hash: string },
): Promise<boolean> {
  const set = await store.ask({ ask: 'ruleSet', subject: pathSubject(path, machine) })
  return set?.trusted === true && set.source?.hash === hash
}
