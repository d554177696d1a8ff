import { localTime } from '../moment.ts'
import type { Colours } from '../print/colour.ts'
import { padTo } from '../print/display-width.ts'
import { neutralLine } from '../print/neutral.ts'
import type { Printer } from '../print/printer.ts'
import { byteCount } from '../print/times.ts'
import type { LogLine } from './log-lines.ts'

/** A log that is shown, with the label of its lines. */
export interface ShownLog {
  readonly label: string
  /** Its number among the logs, which decides its colour. */
  readonly index: number
}

const HUES = ['cyan', 'yellow', 'green', 'blue', 'red'] as const satisfies readonly (keyof Colours)[]

export interface LineStyle {
  /** The width of the longest label; null: lines have no labels. */
  readonly labelWidth: number | null
  readonly timestamps: boolean
  /** Escape sequences of the output reach the terminal. */
  readonly isRaw: boolean
}

/** Prints lines of one or several logs, for people or as JSON. */
export class LinePrinter {
  readonly #print: Printer
  readonly #style: LineStyle

  constructor(print: Printer, style: LineStyle) {
    this.#print = print
    this.#style = style
  }

  show({ label, index }: ShownLog, pid: string, line: LogLine): void {
    const { labelWidth, timestamps, isRaw } = this.#style
    const time = timestamps && line.at !== null ? localTime(line.at) : null
    if (this.#print.isJson) {
      const content =
        line.type === 'gap'
          ? { gap: { from: line.from, to: line.to } }
          : { offset: line.offset, text: line.text }
      const source = labelWidth === null ? {} : { pid, name: label }
      this.#print.jsonLine({ ...source, ...content, ...(time === null ? {} : { time }) })
      return
    }
    const prefix = labelWidth === null ? '' : this.#prefix(label, index, labelWidth)
    if (line.type === 'gap')
      this.#print.aside(
        `${labelWidth === null ? '' : `${label}: `}${byteCount(line.to - line.from)} are missing here: they are no longer kept.`,
      )
    else {
      const text = isRaw ? line.text : neutralLine(line.text)
      this.#print.rawLine(`${prefix}${time === null ? '' : `${this.#print.colours.dim(time)} `}${text}`)
    }
  }

  #prefix(label: string, index: number, width: number): string {
    const paint = this.#print.colours[HUES[index % HUES.length] ?? 'cyan']
    return `${paint(`${padTo(neutralLine(label), width)} |`)} `
  }
}
