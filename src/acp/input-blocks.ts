import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { OutputOf } from '../verbs/reeve.ts'
import { textOf } from './tool-calls.ts'

type Item = OutputOf<'agentLog'>['items'][number]
type Part = Extract<Item, { type: 'input_promoted' }>['payload']['parts'][number]

/** A stored input as an editor shows it. The content of a referenced file follows its reference, and is left out. */
export function inputBlocks(parts: readonly Part[]): ContentBlock[] {
  return parts.flatMap((part, index): ContentBlock[] => {
    if (parts[index - 1]?.type === 'reference') return []
    const { file, path, data, mediaType } = part
    if (part.type === 'reference' && typeof file === 'string')
      return [{ type: 'resource_link', name: String(path), uri: pathToFileURL(file).href }]
    if (part.type === 'image' && typeof data === 'string' && typeof mediaType === 'string')
      return [{ type: 'image', data, mimeType: mediaType }]
    const text = textOf([part])
    return text === '' ? [] : [{ type: 'text', text }]
  })
}
