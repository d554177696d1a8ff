/**
 * What a command line would run, as far as its text says it. Rules are matched against every command, so a wrapper and the
 * command that it starts are both listed, and a command is listed more often rather than left out.
 */
export type ShellAnalysis =
  /** Every command is in the list. Those with `opaque` may start more than can be seen. */
  | { readonly type: 'commands'; readonly commands: readonly ShellCommand[]; readonly writes: Writes }
  /** More may run than the list says: needs the right to everything. A deny of a listed command still denies the whole. */
  | {
      readonly type: 'opaque'
      readonly reason: string
      readonly commands: readonly ShellCommand[]
      readonly writes: Writes
    }

export interface ShellCommand {
  /** As written: a name or a path. */
  readonly program: string
  readonly args: Args
  /** Names of the variables that the line sets for this command. */
  readonly env: readonly string[]
  /**
   * Whether it does nothing but start the commands that are listed after it: `nohup`, `env`, a literal `sh -c`. Ask and deny rules
   * match it as any other; an allow rule for it is not needed.
   */
  readonly transparent?: true
  /** Why this command may start programs that are not listed: an interpreter, another shell, an option that runs a command. */
  readonly opaque?: string
}

/** Null stands for text that only the shell knows: any number of arguments, also none. */
export type Args = readonly (string | null)[]

/** Targets of redirections that write. Null stands for a target that is not literal, or whose folder is not known after a `cd`. */
type Writes = readonly (string | null)[]
