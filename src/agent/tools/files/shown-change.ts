import type { ShownChange } from '../../../core/approval/shown-change.ts'
import { lineDiff } from '../../../core/files/line-diff.ts'
import type { FileToolParts } from './file-tools.ts'
import { type NewText, type PlannedChange, plannedChange } from './planned-change.ts'
import { decodeText, hashOf } from './read-content.ts'
import { fileNeed } from './workspace-path.ts'

/** What a change would make of a file, for the person who is asked. Null for a change that would be refused anyway. */
export async function shownChange(
  parts: FileToolParts,
  given: string,
  newText: NewText,
): Promise<ShownChange | null> {
  const planned = await plannedChange(parts, given, newText)
  if (planned === null) return null
  const { path, before, text } = planned
  const after = factsOf(Buffer.from(text))
  if (!(await isKnown(parts, planned))) return { path: path.real, after, diff: null, isCut: false }
  const old = before === null ? '' : decodeText(before.bytes)
  const shown = { path: path.real, before: before === null ? null : factsOf(before.bytes), after }
  if (old === null) return { ...shown, diff: null, isCut: false }
  // Masked before it is compared: the signs of a diff would hide a secret of several lines.
  const diff = lineDiff(parts.mask(old), parts.mask(text))
  return { ...shown, diff: diff.text, isCut: diff.isCut }
}

/** The asker sees its own requests: they tell nothing about a file that it has not seen. */
async function isKnown(
  { agent, root, tracker, ruling }: FileToolParts,
  { path, before }: PlannedChange,
): Promise<boolean> {
  if (before === null) return (await ruling(fileNeed('read', root, path))).type === 'allow'
  return (await tracker.judge(agent, path.real, before.hash)).type === 'allowed'
}

function factsOf(bytes: Buffer): ShownChange['after'] {
  return { bytes: bytes.length, hash: hashOf(bytes) }
}
