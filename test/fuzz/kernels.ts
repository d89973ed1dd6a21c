/** What is needed of WebAssembly here; Node's types have none. */
interface Instance {
  readonly exports: Readonly<Record<string, unknown>>
}
type InstanceConstructor = new (module: object, imports: object) => Instance
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Instance: InstanceConstructor } }

const New = WebAssembly.Instance
/** Whether instances of a module begin anew when they are told to; undefined until there was one. */
const beginsAnew = new WeakMap<object, boolean>()
const idle = new Map<object, Instance[]>()
const busy: { module: object; instance: Instance }[] = []

/**
 * Makes each kernel of MTRC serve one trace after the other: making one takes more time than reading a small trace.
 * These clear what they know when a trace begins; the other kernels that keep something cannot.
 */
export function reuseKernels(): void {
  WebAssembly.Instance = function (module: object, imports: object): Instance {
    const instance = idle.get(module)?.pop() ?? new New(module, imports)
    let isReused = beginsAnew.get(module)
    if (isReused === undefined)
      beginsAnew.set(module, (isReused = 'begin' in instance.exports && 'nameOf' in instance.exports))
    if (isReused) busy.push({ module, instance })
    return instance
  } as unknown as InstanceConstructor
}

/** Nothing of the last input is in use any more. */
export function releaseKernels(): void {
  for (const { module, instance } of busy) {
    const instances = idle.get(module)
    if (instances === undefined) idle.set(module, [instance])
    else instances.push(instance)
  }
  busy.length = 0
}
