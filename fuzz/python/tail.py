def compare(name, got, same_shape, same_dtype, want, bound):
    if not same_shape or not same_dtype:
        print(f"{name}: another {'dtype' if same_shape else 'shape'} than wanted")
        return 1
    wrong = [k for k, (g, w) in enumerate(zip(got, want)) if w is not None and g != w
             and not (g != g and w != w) and not abs(g - w) <= (bound[k] if bound else 0)]
    if wrong:
        k = wrong[0]
        print(f"{name}, element {k}: want {want[k]}, got {got[k]}"
              f" (off by up to {bound[k] if bound else 0} is right); {len(wrong)} wrong")
    return len(wrong)


