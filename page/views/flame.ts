import { TREE_METRICS, type TreeMetric } from '../../lib/transforms/report/result.js'
import type { Mounted, Target, View } from '../app.js'
import { withRules, type FrameRules, type RuledTree } from '../flame/change-frames.js'
import { graph } from '../flame/graph.js'
import { bottomUp, pathTo, type FlameTree } from '../flame/tree.js'
import { METRICS } from '../model.js'
import { elementsOf } from '../parts/canvas.js'
import { button, choice, el } from '../parts/dom.js'
import { copyButton } from '../parts/save.js'
import { bytes, counted, exactBytes, share } from '../parts/format.js'
import { criterionOf } from '../filter/fields.js'
import { search } from '../sites/search.js'
import { frameRules } from '../flame/rules.js'

/** The stacks as a flame graph. */
export const flame: View = {
  title: 'Flame graph',
  mount(app): Mounted {
    const { model } = app
    let metric: TreeMetric = TREE_METRICS.find((one) => (model.tree(one).totals[0] ?? 0) > 0) ?? 'allocatedBytes'
    let isInverted = false
    let ruled: RuledTree = withRules(model.tree(metric), {}, textOf)
    let tree: FlameTree = ruled.tree
    let expression: RegExp | undefined
    let focus = 0
    let selected = 0
    const state = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })
    const none = el('p', { class: 'none', attributes: { hidden: '' } })

    function textOf(frame: number): string {
      return model.text(frame)
    }
    const amount = (value: number) =>
      METRICS[metric].unit === 'bytes' ? `${bytes(value)} (${exactBytes(value)})` : counted(value, 'block')
    const name = (node: number) => model.name(tree.frames[node] ?? -1)
    const lines = (node: number) => {
      const frame = tree.frames[node] ?? -1
      const [total, own, all] = [tree.totals[node] ?? 0, tree.own[node] ?? 0, tree.totals[0] ?? 0]
      return [
        name(node),
        ...(frame >= 0 && model.place(frame) !== undefined ? [model.place(frame) as string] : []),
        `${METRICS[metric].title}: ${amount(total)}, ${share(total, all)}`,
        ...(!isInverted && own > 0 && own < total ? [`of its own: ${amount(own)}`] : []),
      ]
    }
    /** What the address says of the picture. */
    const target = (): Target => ({
      metric,
      ...(isInverted && { inverted: true }),
      ...(!isInverted && focus > 0 && { node: ruled.origin[focus] ?? 0 }),
      ...rules.texts(),
    })
    let isShown = false
    const picture = graph({
      name,
      label: (node) => model.label(tree.frames[node] ?? -1),
      place: (node) => model.briefPlace(tree.frames[node] ?? -1),
      lines,
      selected(node, next) {
        ;[selected, focus] = [node, next]
        state.replaceChildren(...elementsOf('span', lines(node)))
        out.disabled = next === 0
        only.disabled = wanted().length === 0
        rules.select(node === 0 ? undefined : name(node))
        if (isShown) app.note('flame', target())
      },
    })
    const out = button('Show all', () => picture.zoom(0))
    const wanted = () => criterionOf(model.data, model.data.frames[tree.frames[focus] ?? -1])
    const only = button('Only with this function', () => app.filter?.add(wanted()), {
      title: 'filter the trace: keep what has this function on the stack',
      attributes: { disabled: '' },
    })
    const about = button('Callers and callees', () => app.open('functions', { function: name(selected), metric }), {
      title: 'show the function in the table of functions',
    })
    const rules = frameRules((texts) => {
      const { node: _, ...rest } = target()
      app.open('flame', { ...rest, ...texts })
    })

    const mark = () => {
      const found = new Map<number, boolean>()
      const matches = (frame: number) => {
        let is = found.get(frame)
        if (is === undefined) found.set(frame, (is = expression?.test(model.text(frame)) ?? false))
        return is
      }
      const sum = picture.mark(expression === undefined ? undefined : matches)
      field.say(expression === undefined ? '' : `matches: ${amount(sum)}, ${share(sum, tree.totals[0] ?? 0)}`)
    }
    const field = search('Search', (next) => {
      expression = next
      mark()
    })
    let current: FrameRules = {}
    const draw = (at = 0) => {
      ruled = withRules(model.tree(metric), current, textOf)
      tree = isInverted ? bottomUp(ruled.tree) : ruled.tree
      const isEmpty = (tree.totals[0] ?? 0) === 0
      none.hidden = !isEmpty
      none.textContent = `There is nothing to draw: ${METRICS[metric].title.toLowerCase()} are zero in what is shown.`
      picture.element.hidden = isEmpty
      picture.set(tree, isInverted ? 0 : at)
      mark()
    }
    /** The node that shows a node of the whole tree. */
    const placeOf = (node: number) => {
      const path = pathTo(model.tree(metric), node)
      const places = new Map([...ruled.origin].map((origin, place) => [origin, place]))
      return (
        path
          .map((one) => places.get(one))
          .findLast((place) => place !== undefined && (ruled.tree.totals[place] ?? 0) > 0) ?? 0
      )
    }
    const metrics = choice(
      'Figure',
      TREE_METRICS.filter((one) => model.isKnown(one)).map((one) => [one, METRICS[one].title] as const),
      (next) => {
        // The position remains the same, as far as it exists for the other figure.
        const same = isInverted ? 0 : (ruled.origin[focus] ?? 0)
        metric = next
        draw()
        if (same > 0) picture.zoom(placeOf(same))
      },
    )
    const inverted = el('input', {
      attributes: { type: 'checkbox' },
      on: {
        change() {
          isInverted = inverted.checked
          draw()
        },
      },
    })
    metrics.set(metric)
    draw()
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, 'Callers are above the functions that they call. Click a box to zoom.'),
        el(
          'div',
          { class: 'bar' },
          metrics.element,
          el(
            'label',
            { class: 'field', title: 'the functions that allocate at the top, and their callers below them' },
            inverted,
            ' inverted',
          ),
          out,
          about,
          copyButton('Copy the stack', () => picture.stack()),
          app.filter && only,
          field.element,
        ),
        rules.element,
        state,
        none,
        picture.element,
      ),
      search: field.input,
      show(wanted) {
        isShown = false
        const { node } = wanted
        if (wanted.metric !== undefined) metric = wanted.metric
        if (node !== undefined && (model.tree(metric).totals[node] ?? 0) === 0)
          metric = TREE_METRICS.find((one) => (model.tree(one).totals[node] ?? 0) > 0) ?? metric
        isInverted = inverted.checked = wanted.inverted ?? false
        metrics.set(metric)
        current = rules.set(wanted)
        draw()
        if (node !== undefined && !isInverted) picture.zoom(placeOf(node))
        isShown = true
      },
    }
  },
}
