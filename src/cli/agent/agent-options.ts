/** The options of `reeve agent`. */
export type AgentOptions = {
  readonly image: string | undefined
  readonly model: string | undefined
  readonly with: string | undefined
  readonly 'with-program': string | undefined
  readonly name: string | undefined
  readonly system: string | undefined
  readonly effort: string | undefined
  readonly tool: readonly string[]
  readonly mcp: string | undefined
  readonly memory: boolean
  readonly file: readonly string[]
  readonly until: string | undefined
  readonly 'max-turns': number | undefined
  readonly path: readonly string[]
  readonly at: number | undefined
  readonly mode: string | undefined
  readonly root: readonly string[]
  readonly worktree: boolean
  readonly once: boolean
  readonly detach: boolean
  readonly session: string | undefined
  readonly allow: readonly string[]
  readonly 'soft-limit': readonly string[]
  readonly last: number | undefined
  readonly format: string | undefined
  readonly follow: boolean
  readonly drop: boolean
  readonly all: boolean
  readonly list: boolean
  readonly to: number | undefined
  readonly branch: string | undefined
  readonly label: string | undefined
  readonly 'undo-files': boolean
  readonly 'dry-run': boolean
}
