import type { LogItem } from '../log-view.ts'
import { itemMarkdown } from './markdown.ts'
import { uiChunks } from './ui-messages.ts'

export const EXPORT_FORMATS = ['jsonl', 'markdown', 'ui-messages'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** One item of a session log in a format. Texts of items that follow each other are concatenated. */
export function exportItem(format: ExportFormat, item: LogItem): string {
  switch (format) {
    case 'jsonl':
      return `${JSON.stringify(item)}\n`
    case 'markdown':
      return itemMarkdown(item)
    case 'ui-messages':
      return uiChunks(item)
        .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
        .join('')
  }
}
