// Variants such as sizes and colours. The chosen options are in the URL, by their own ids.
import { useSearchParams } from 'react-router'

interface Variation { uuid: string; name: string; options: readonly { uuid: string; name: string; description: string | null }[] }
interface Child { childVariations: readonly { option: { uuid: string } | null }[] }

/** useVariant returns the chosen options, and the child that has all of them. */
export function useVariant<C extends Child>(children: readonly C[]) {
  const [search, setSearch] = useSearchParams()
  const chosen = search.get('options')?.split(',').filter(Boolean) ?? []
  const optionsOf = (child: C) => child.childVariations.flatMap(({ option }) => option ? [option.uuid] : [])
  const variant = children.find(child => optionsOf(child).length > 0 && optionsOf(child).every(option => chosen.includes(option)))
  // Marks options that no child combines with the other chosen options.
  const exists = (option: string, { options }: Variation) => {
    const wanted = [option, ...chosen.filter(id => !options.some(({ uuid }) => uuid === id))]
    return children.some(child => wanted.every(id => optionsOf(child).includes(id)))
  }
  // Choosing an option that does not go with the others keeps only those that do.
  const choose = (option: string, variation: Variation) => {
    const others = chosen.filter(id => !variation.options.some(({ uuid }) => uuid === id))
    const kept = exists(option, variation) ? others : others.filter(id => children.some(child => [option, id].every(each => optionsOf(child).includes(each))))
    setSearch({ options: [...kept, option].join() }, { replace: true, preventScrollReset: true })
  }
  return { variant, chosen, exists, choose }
}

/** Variants shows the options of each variation. */
export function Variants({ variations, by: { chosen, exists, choose } }: { variations: readonly Variation[]; by: Omit<ReturnType<typeof useVariant>, 'variant'> }) {
  return variations.map(variation => <fieldset key={variation.uuid} className="options">
    <legend>{variation.name}</legend>
    {variation.options.map(({ uuid, name, description }) => <label key={uuid} className="chip" data-faint={!exists(uuid, variation) || undefined}>
      <input type="radio" name={variation.uuid} value={uuid} checked={chosen.includes(uuid)} onChange={() => choose(uuid, variation)} />
      {name} {description && !description.includes(name) && <span className="muted">{description}</span>}
    </label>)}
  </fieldset>)
}
