import { statSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk'
import type { InputOf } from '../verbs/reeve.ts'

type InputPart = NonNullable<InputOf<'runAgent'>['parts']>[number]
type Resource = Extract<ContentBlock, { type: 'resource' }>['resource']

/** A prompt as the input of an agent. Whether the model takes its pictures and files, the daemon says. */
export function promptParts(prompt: readonly ContentBlock[], workspace: string | null): InputPart[] {
  const parts = prompt.flatMap((block) => partsOf(block, workspace))
  if (parts.length === 0) throw RequestError.invalidParams(undefined, 'The prompt is empty')
  return parts
}

function partsOf(block: ContentBlock, workspace: string | null): InputPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    case 'image':
      return [{ type: 'image', mediaType: block.mimeType, data: block.data }]
    case 'resource_link':
      return [linkedPart(block, workspace)]
    case 'resource':
      return [embeddedPart(block.resource)]
    case 'audio':
      throw RequestError.invalidParams({ type: 'audio' }, 'Reeve agents take no audio')
  }
}

/** A file of the workspace is read by Reeve; of everything else the agent gets the address. */
function linkedPart(
  { uri, name }: Extract<ContentBlock, { type: 'resource_link' }>,
  workspace: string | null,
): InputPart {
  const linked = fileIn(uri)
  if (linked === null || workspace === null || !isFileBelow(workspace, linked.path))
    return { type: 'text', text: `[${name}](${uri})` }
  return { type: 'reference', ...linked }
}

function embeddedPart(resource: Resource): InputPart {
  const name = fileIn(resource.uri)?.path ?? resource.uri
  const named = name === '' ? {} : { name: name.slice(-MAX_NAME_CHARS) }
  if ('text' in resource)
    return { type: 'paste', text: resource.text === '' ? '(empty)' : resource.text, ...named }
  const mediaType = resource.mimeType ?? 'application/octet-stream'
  if (mediaType.startsWith('image/')) return { type: 'image', mediaType, data: resource.blob }
  return { type: 'file', mediaType, data: resource.blob, ...named }
}

const MAX_NAME_CHARS = 255

/** The file that a URI names; editors append the selected lines as `#L10` or `#L10:20`. */
function fileIn(uri: string): { readonly path: string; readonly from?: number; readonly to?: number } | null {
  try {
    const url = new URL(uri)
    if (url.protocol !== 'file:') return null
    const path = fileURLToPath(url)
    const [, from, to] = /^#L(\d+)(?:[:-]L?(\d+))?$/.exec(url.hash) ?? []
    if (from === undefined || Number(from) < 1) return { path }
    return { path, from: Number(from), to: Math.max(Number(from), Number(to ?? from)) }
  } catch {
    return null
  }
}

function isFileBelow(folder: string, path: string): boolean {
  const below = relative(folder, path)
  if (isAbsolute(below) || below.split(sep)[0] === '..') return false
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
