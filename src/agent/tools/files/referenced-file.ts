import type { FileReference, ReferencedFile } from '../../../core/agent/input-part.ts'
import type { Need } from '../../../core/capability/need.ts'
import type { UserPart } from '../../../core/model/prompt.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { ToolError } from '../agent-tool.ts'
import { type FileContent, readContent } from './read-content.ts'
import { MAX_LINES, pictureIn, shownLines } from './shown-content.ts'
import { fileNeed, refuseOutside, resolveIn, type WorkspacePath } from './workspace-path.ts'

interface ReferenceParts {
  /** The workspace: absolute and canonical. */
  readonly root: string
  readonly isNamed: (need: Need) => boolean | Promise<boolean>
  /** The refusal of the agent's rules. */
  readonly refuse: (need: Need) => Promise<Refusal | undefined>
}

/** Reads a file that an input refers to, under the rules of the agent that gets it. Throws a `ToolError` that says why it cannot. */
export async function readReferencedFile(
  { root, isNamed, refuse }: ReferenceParts,
  { path: given, from = 1, to = from + MAX_LINES - 1 }: FileReference,
): Promise<ReferencedFile> {
  const path = await resolveIn(root, given)
  const need = fileNeed('read', root, path)
  await refuseOutside(path, need, isNamed)
  const refused = await refuse(need)
  if (refused !== undefined) throw new ToolError('refused', `${path.shown}: ${refused.message}`)
  if (to < from) throw new ToolError('invalid_input', `${path.shown}: line ${to} is before line ${from}.`)
  const content = await readContent(path)
  if (content === null) throw new ToolError('not_found', `There is no file ${path.shown}.`)
  const { hash, bytes } = content
  return {
    path: path.shown,
    file: path.real,
    hash,
    bytes: bytes.length,
    content: contentPart(path, content, { offset: from, limit: to - from + 1 }),
  }
}

function contentPart(
  path: WorkspacePath,
  content: FileContent,
  lines: { readonly offset: number; readonly limit: number },
): UserPart {
  const picture = pictureIn(path, content)
  if (picture !== undefined) return picture
  const { bytes } = content
  if (bytes.subarray(0, PDF.length).equals(PDF))
    return { type: 'file', mediaType: 'application/pdf', name: path.shown, data: bytes.toString('base64') }
  return { type: 'text', text: shownLines(path, content, lines) }
}

const PDF = Buffer.from('%PDF-')
